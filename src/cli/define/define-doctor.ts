import type { DefineCommand } from './command-group.js';

/** What `doctor` takes, as commander hands it over. */
export interface DoctorOptions {
  readonly config?: string;
  readonly journal?: string;
  readonly root?: readonly string[];
  readonly json?: boolean;
}

export const defineDoctor: DefineCommand = (program, context, finish) => {
  program
    .command('doctor')
    .summary('what works on this machine, and what to install for the rest')
    .description(
      'Tries everything that toolexec leans on, and says of each missing part what it costs and how to get it. ' +
        'Changes nothing.',
    )
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal that would be used')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec doctor\n  toolexec doctor --json\n')
    .addHelpText('after', '\nExit code: 0 calls can be run; 1 something that every call needs is broken.\n')
    .action(async (options: DoctorOptions) => {
      const { examineMachine } = await import('../commands/doctor.js');
      finish(await examineMachine(options, context));
    });
};
