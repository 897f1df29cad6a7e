import type { BatchRecord, CallRecord, Journal } from '../../../contract/journal.js';
import type { JournalArchive } from '../../../journal/open-archive.js';
import { snapshotOf } from '../../../journal/snapshot-journal.js';
import { type CliContext, type DefineCommand, type ExitCode, flushOutput } from '../../cli-context.js';
import { toSafeJson } from '../../display/terminal-text.js';
import { isDatabase } from '../../journal-databases.js';
import { openStore } from '../../journal-store.js';
import { addJournalOptions, conversationName } from '../../options.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { journalIfAny, openRecorded, readingJournal } from '../../recorded-journal.js';

interface JournalExportOptions extends JournalChoice {
  readonly conversation?: string;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .description(
      'Writes one JSON object per line: conversation, message, batch, call, repeat, note, decision. The call lines are ' +
        'the input of createTape in toolexec/testing.',
    )
    .option('--conversation <id>', 'only this conversation', conversationName)
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
  const { conversation } = options;
  const read = isDatabase(path) ? readDatabase(path, conversation) : readFile(path, conversation, context);
  await readingJournal(async () => {
    for await (const lines of read) {
      for (const line of lines) stdout.write(`${toSafeJson(line)}\n`);
      // A journal may be larger than memory.
      await flushOutput(context.stdio);
    }
  });
  return 0;
}

/** The lines of each conversation. */
async function* readFile(
  path: string,
  conversation: string | undefined,
  context: CliContext,
): AsyncIterable<Iterable<object>> {
  const archive = openRecorded(path, context);
  try {
    for (const id of conversation === undefined ? archive.conversations() : [conversation])
      yield linesOf(archive, id);
  } finally {
    archive.close();
  }
}

async function* readDatabase(
  place: string,
  conversation: string | undefined,
): AsyncIterable<Iterable<object>> {
  const journal = await openStore(place);
  try {
    const names = conversation === undefined ? await conversationsIn(journal) : [conversation];
    for (const id of names) {
      yield linesOf(await snapshotOf(journal, { conversation: id, limit: Number.MAX_SAFE_INTEGER }), id);
    }
  } finally {
    await journal.close();
  }
}

const PAGE = 1_000;

/** The conversations with batches, in the order of their first one. */
async function conversationsIn(journal: Journal): Promise<readonly string[]> {
  const newestFirst: string[] = [];
  for (let page = await journal.batches({ limit: PAGE }); page.length > 0; ) {
    newestFirst.push(...page.map((batch) => batch.conversation));
    const before = page.at(-1)?.id;
    page = before === undefined ? [] : await journal.batches({ limit: PAGE, before });
  }
  return [...new Set(newestFirst.reverse())];
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
