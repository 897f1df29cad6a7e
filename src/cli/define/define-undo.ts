import type { DefineCommand } from './command-group.js';

/** What `undo` takes, as commander hands it over. */
export interface UndoCallOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly json?: boolean;
  readonly conversation?: string;
  readonly dryRun?: boolean;
}

/** `toolexec undo`, and the same below `toolexec journal`. */
export const defineUndo: DefineCommand = (program, context, finish) => {
  program
    .command('undo')
    .summary('put back what a call changed in files')
    .description(
      'Puts every file back that the call changed, made, moved or removed. A file that was changed since stays as it ' +
        'is, and so does what cannot be kept for undoing the undo. A moved file comes back whole or stays whole. The ' +
        'undo is recorded as a call of its own, and can be undone.',
    )
    .argument('<call>', 'the id of the call')
    .option('--conversation <id>', 'whose call it is (default: the newest call with this id)')
    .option('--dry-run', 'say what would be put back, and put back nothing')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec undo toolu_01\n  toolexec undo toolu_01 --dry-run\n')
    .addHelpText(
      'after',
      '\nExit code: 0 all is put back; 1 something stays as it is; 2 there is no such call.\n',
    )
    .action(async (call: string, options: UndoCallOptions) => {
      const { undoCall } = await import('../commands/undo.js');
      finish(await undoCall(call, options, context));
    });
};
