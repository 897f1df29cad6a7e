import type { JournalChoice } from '../recorded-journal.js';
import type { DefineCommand } from './command-group.js';

/** What `waiting` takes, as commander hands it over. */
export interface ListWaitingOptions extends JournalChoice {
  readonly conversation?: string;
  readonly json?: boolean;
}

export const defineWaiting: DefineCommand = (program, context, finish) => {
  program
    .command('waiting')
    .summary('what waits for approval')
    .description(
      'Lists the batches that "toolexec run --defer" or a program has deferred, the longest wait first, with every call ' +
        'that has to be approved. Runs and changes nothing.',
    )
    .option('--conversation <id>', 'only of this conversation')
    .option('--root <dir...>', 'directories that tools may touch, as for run (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal of run')
    .option('--json', 'the whole requests as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec waiting\n  toolexec waiting --conversation thread-7\n  toolexec waiting --json\n',
    )
    .addHelpText('after', '\nExit code: 0 also where nothing waits; 2 wrong usage, input or configuration.\n')
    .action(async (options: ListWaitingOptions) => {
      const { listWaiting } = await import('../commands/waiting.js');
      finish(await listWaiting(options, context));
    });
};
