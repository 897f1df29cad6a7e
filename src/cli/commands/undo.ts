import { relative, resolve } from 'node:path';
import type { UndoReport } from '../../contract/executor.js';
import { isToolError } from '../../errors/tool-error.js';
import { sanitize } from '../../output/sanitize.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { writeJson, writeNote } from '../display/terminal-text.js';
import { openExecutor } from '../open-executor.js';
import { conversationName } from '../options.js';
import { parseAge } from '../parse-age.js';
import { openStored, readingJournal, requireRecorded } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';
import { type CallUndo, callsToUndo, undoEach } from '../undo-conversation.js';

/** The options of `undo`, in commander's form. */
interface UndoCallOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly json?: boolean;
  readonly conversation?: string;
  readonly dryRun?: boolean;
  /** Milliseconds. */
  readonly since?: number;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Restores every file that the call changed, created, moved or removed. A file that was changed since stays ' +
        'unchanged, and so does a file whose current content cannot be kept for undoing the undo. Both ends of a move are restored, or neither. The ' +
        'undo is recorded as a separate call, and can be undone. With --conversation alone all calls of the conversation are undone, ' +
        'newest first.',
    )
    .argument('[call]', 'the id of the call')
    .option(
      '--conversation <id>',
      'the conversation of the call (default: the newest call with this id); alone: all calls of the conversation',
      conversationName,
    )
    .option(
      '--since <age>',
      'with --conversation alone: only calls that began within this time: 10m, 2h',
      parseAge,
    )
    .option('--dry-run', 'report what would be restored, and restore nothing')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec undo toolu_01\n  toolexec undo toolu_01 --dry-run\n  toolexec undo --conversation c1 --since 10m\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 all files are restored; 1 some files are not; 2 there is no such call.\n',
    )
    .action(async (call: string | undefined, options: UndoCallOptions) => {
      finish(await (call === undefined ? undoAll(options, context) : undoCall(call, options, context)));
    });
};

/** `toolexec undo --conversation ID`: restores the files that its calls changed; exit code 1 if some were not restored. */
async function undoAll(options: UndoCallOptions, context: CliContext): Promise<ExitCode> {
  const { stdio } = context;
  const { conversation, dryRun = false, since } = options;
  if (conversation === undefined) throw new UsageError('Name a call, or a conversation with --conversation.');
  const { executor: resolved, notes } = resolveRun(options, context);
  for (const note of notes) writeNote(stdio, note);
  const { path } = resolved.journal;
  requireRecorded(path, `undo the conversation "${conversation}"`);
  const which = { conversation, dryRun, ...(since === undefined ? {} : { sinceMs: since }) };
  const calls = await readingJournal(async () => {
    const archive = await openStored(path, context, { conversation });
    try {
      if (archive.batches({ conversation, limit: 1 }).length === 0) throw noConversation(conversation);
      return callsToUndo(archive, which);
    } finally {
      archive.close();
    }
  });
  await using executor = await openExecutor(resolved);
  const undone: CallUndo[] = [];
  for await (const one of undoEach(executor, calls, which)) {
    undone.push(one);
    if (options.json !== true) stdio.stdout.write(describeOne(one, dryRun));
  }
  if (options.json === true) writeJson(stdio.stdout, undone);
  else if (undone.length === 0) stdio.stderr.write('toolexec: there is nothing to undo\n');
  return undone.every((one) => 'skipped' in one && one.skipped.length === 0) ? 0 : 1;
}

function noConversation(conversation: string): UsageError {
  return new UsageError(
    `The journal holds no conversation ${JSON.stringify(conversation)}. See toolexec journal list.`,
  );
}

function describeOne(one: CallUndo, dryRun: boolean): string {
  const name = `${one.toolName} (${one.callId})`;
  if ('reason' in one) return `${sanitize(`left ${name}: ${one.reason}`, 'inline')}\n`;
  const isNothing = one.restored.length + one.skipped.length === 0;
  return `${sanitize(`${name}:${isNothing ? ' nothing to put back' : ''}`, 'inline')}\n${describe(one, dryRun)}`;
}

/** `toolexec undo`: restores the files that a call changed; exit code 1 if some were not restored. */
export async function undoCall(
  callId: string,
  options: UndoCallOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio } = context;
  if (options.since !== undefined)
    throw new UsageError('Cannot use --since with a call: it says which calls of a conversation are undone.');
  const { executor: resolved, notes } = resolveRun(options, context);
  for (const note of notes) writeNote(stdio, note);
  requireRecorded(resolved.journal.path, `undo "${callId}"`);
  await using executor = await openExecutor(resolved);
  const { conversation, dryRun = false } = options;
  try {
    const report = await executor.undo(callId, {
      dryRun,
      ...(conversation === undefined ? {} : { conversation }),
    });
    if (options.json === true) writeJson(stdio.stdout, report);
    else stdio.stdout.write(describe(report, dryRun));
    return report.skipped.length === 0 ? 0 : 1;
  } catch (error) {
    if (!isToolError(error)) throw error;
    // A refusal of the file system is not a usage error.
    if (error.code === 'execution_failed') {
      writeNote(stdio, error.message);
      return 1;
    }
    throw new UsageError(error.message, { cause: error });
  }
}

function describe({ restored, skipped, undoId }: UndoReport, dryRun: boolean): string {
  const lines = [
    ...restored.map((path) => `${dryRun ? 'would put back' : 'put back'} ${shown(path)}`),
    ...skipped.map(({ path, reason }) => `left ${shown(path)}: ${reason}`),
  ];
  if (undoId !== undefined) lines.push(`to take this back: toolexec undo ${undoId}`);
  return lines.map((line) => `${sanitize(line, 'inline')}\n`).join('');
}

function shown(path: string): string {
  return relative(resolve('.'), path);
}
