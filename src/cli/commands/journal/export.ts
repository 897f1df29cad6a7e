import type { BatchRecord, CallRecord } from '../../../contract/journal.js';
import type { JournalArchive } from '../../../journal/open-archive.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { toSafeJson } from '../../display/terminal-text.js';
import { addJournalOptions } from '../../options.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { journalIfAny, openRecorded, readingJournal } from '../../recorded-journal.js';

interface JournalExportOptions extends JournalChoice {
  readonly conversation?: string;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .description(
      'Writes one JSON object a line: conversation, message, batch, call, repeat, note, decision. The call lines are ' +
        'what createTape of toolexec/testing answers from.',
    )
    .option('--conversation <id>', 'only this conversation')
    .addHelpText('before', 'Examples:\n  toolexec journal export > calls.jsonl\n')
    .action(async (options: JournalExportOptions) => {
      finish(await exportJournal(options, context));
    });
};

/** `toolexec journal export`: one JSON object per line, conversation by conversation, each in order. */
export async function exportJournal(options: JournalExportOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const path = journalIfAny(options, context);
  if (path === undefined) return 0;
  await readingJournal(async () => {
    const archive = openRecorded(path, context);
    try {
      const { conversation } = options;
      for (const id of conversation === undefined ? archive.conversations() : [conversation]) {
        for (const line of linesOf(archive, id)) stdout.write(`${toSafeJson(line)}\n`);
        // A journal may be larger than memory.
        await stdout.flushed();
      }
    } finally {
      archive.close();
    }
  });
  return 0;
}

function* linesOf(archive: JournalArchive, conversation: string): Iterable<object> {
  const history = archive.history(conversation);
  if (history.length > 0) yield { kind: 'conversation', id: conversation };
  for (const entry of history) {
    if (entry.kind === 'message') yield { ...entry, conversation };
    else yield* linesOfBatch(archive, entry);
  }
  for (const { key, value, at } of archive.facts(conversation)) {
    yield { kind: 'fact', conversation, key, value, at };
  }
}

function* linesOfBatch(archive: JournalArchive, batch: BatchRecord): Iterable<object> {
  const { conversation, id } = batch;
  yield { ...batch, kind: 'batch' };
  for (const [index, call] of archive.calls(id).entries()) {
    const place = { conversation, batch: id, index, callId: call.callId };
    if (call.batchId !== id) {
      yield { kind: 'repeat', ...place, of: { batch: call.batchId, index: call.index } };
      continue;
    }
    yield { kind: 'call', ...place, ...toLine(call) };
    for (const { kind, at, data } of archive.notes(call))
      yield { kind: 'note', ...place, note: kind, data, at };
  }
  for (const { kind, at, data } of archive.decisions(id)) {
    yield { kind: 'decision', conversation, batch: id, decision: kind, data, at };
  }
}

function toLine(call: CallRecord): object {
  const { toolName, args, state, result, effects, disposition, reason, worker, startedAt, finishedAt } = call;
  const { madeUp, turn } = call;
  return {
    ...(madeUp === undefined ? {} : { madeUp }),
    ...(turn === undefined ? {} : { turn }),
    toolName,
    args,
    state,
    ...(result === undefined ? {} : { result }),
    at: call.acceptedAt,
    effects,
    disposition,
    reason,
    ...(worker === undefined ? {} : { worker }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
  };
}
