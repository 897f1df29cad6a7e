import { Option } from 'commander';
import type { DefineCommand } from './command-group.js';
import { defineJournalQueries } from './define-journal-queries.js';

/** What `journal recover` takes, as commander hands it over. */
export interface RecoverOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly resume?: string;
  readonly discard?: string;
  readonly json?: boolean;
}

/** What `journal undo` takes. */
export interface UndoCallOptions extends Pick<RecoverOptions, 'root' | 'config' | 'journal' | 'json'> {
  readonly conversation?: string;
  readonly dryRun?: boolean;
}

export const defineJournal: DefineCommand = (program, surroundings, finish) => {
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
  defineJournalQueries(journal, surroundings, finish);
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
      const { recoverCalls } = await import('../commands/recover-calls.js');
      finish(await recoverCalls(options, surroundings));
    });
  journal
    .command('undo')
    .summary('put back what a call changed in files')
    .description(
      'Puts every file back that the call changed, made or removed. A file that was changed since stays as it is. The ' +
        'undo is recorded as a call of its own, and can be undone.',
    )
    .argument('<call>', 'the id of the call')
    .option('--conversation <id>', 'whose call it is (default: the newest call with this id)')
    .option('--dry-run', 'say what would be put back, and put back nothing')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec journal undo toolu_01\n  toolexec journal undo toolu_01 --dry-run\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 all is put back; 1 something stays as it is; 2 there is no such call.\n',
    )
    .action(async (call: string, options: UndoCallOptions) => {
      const { undoCall } = await import('../commands/undo-call.js');
      finish(await undoCall(call, options, surroundings));
    });
};
