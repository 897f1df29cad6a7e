import { Option } from 'commander';
import type { WireFormat } from '../../protocols/registry.js';
import { addFormatOption, type BatchOptions } from './batch-options.js';
import type { DefineCommand } from './command-group.js';
import { EXIT_CODES } from './texts.js';

/** What `approve` takes, as commander hands it over. */
export interface ApproveOptions extends Omit<BatchOptions, 'dryRun'> {
  readonly approve?: readonly string[];
  readonly format?: Exclude<WireFormat, 'fenced'>;
  readonly parallel?: boolean;
}

export const defineApprove: DefineCommand = (program, context, finish) => {
  const command = program
    .command('approve')
    .summary('decide a deferred approval, and go on')
    .description(
      'Decides about a batch that "toolexec run --defer" has put off. Its calls are judged by the configuration of ' +
        'now; what is approved runs, and the results of the whole batch are written as run would have. Without a ' +
        'decision it goes on waiting.',
    )
    .argument('<id>', 'the batch, 8 characters or more of its id, or its conversation')
    .option('--root <dir...>', 'directories that tools may touch, as for run (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal of run')
    .addOption(new Option('--yes', 'approve every call that needs approval').conflicts(['approve', 'deny']))
    .addOption(
      new Option('--approve <id...>', 'approve these calls, refuse the others').conflicts(['yes', 'deny']),
    )
    .addOption(new Option('--deny', 'refuse every call that needs approval').conflicts(['yes', 'approve']))
    .option('--parallel', 'run calls side by side where they do not touch the same things')
    .option('--json', 'everything on standard error as JSON, one object a line')
    .addHelpText(
      'before',
      `Examples:
  toolexec run response.json --defer
  toolexec approve 0198c3f2
  toolexec approve thread-7 --approve toolu_01
`,
    )
    .addHelpText('after', EXIT_CODES);
  addFormatOption(command).action(async (id: string, options: ApproveOptions) => {
    const { approveBatch } = await import('../commands/approve.js');
    finish(await approveBatch(id, options, context));
  });
};
