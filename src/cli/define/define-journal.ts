import { Option } from 'commander';
import type { DefineCommand } from './command-group.js';
import { defineJournalQueries } from './define-journal-queries.js';
import { defineUndo } from './define-undo.js';

/** What `journal recover` takes, as commander hands it over. */
export interface RecoverOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly resume?: string;
  readonly discard?: string;
  readonly json?: boolean;
}

export const defineJournal: DefineCommand = (program, context, finish) => {
  const journal = program
    .command('journal')
    .summary('what was run, and what became of it')
    .addHelpText(
      'before',
      `Examples:
  toolexec journal list
  toolexec journal show toolu_01
  toolexec journal recover
  toolexec journal undo toolu_01 --dry-run
  toolexec journal export > calls.jsonl
`,
    );
  defineJournalQueries(journal, context, finish);
  journal
    .command('recover')
    .summary('settle what a process left that died, and decide about what is half done')
    .description(
      'Settles the calls of processes that died: never started is cancelled, started is unknown unless the files say ' +
        'more. Nothing is run again. A batch of which only a part was done waits, and its conversation with it.',
    )
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal')
    .addOption(
      new Option(
        '--resume <id>',
        'a batch (8 characters of its id are enough), or its conversation: go on with what is known',
      ).conflicts('discard'),
    )
    .addOption(
      new Option(
        '--discard <id>',
        'a batch (8 characters of its id are enough), or its conversation: all of it counts as failed; what waits for approval is not run',
      ),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec journal recover\n  toolexec journal recover --discard BATCH\n',
    )
    .action(async (options: RecoverOptions) => {
      const { recoverCalls } = await import('../commands/journal/recover.js');
      finish(await recoverCalls(options, context));
    });
  defineUndo(journal, context, finish);
};
