import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive, pruneJournal, toolexec, verifyJournal } from './built.js';
import type { Scale } from './contents.js';
import type { Row } from './row.js';
import { withDirectory } from './with-directory.js';

const CALLS: Readonly<Record<Scale, number>> = { full: 1_000_000, quick: 10_000 };
/** Recorded with one commit. */
const AT_ONCE = 500;
const CALLS_A_CONVERSATION = 100;

/** The cost of a long journal: to open it, list it, verify it and prune it. */
export function measureLongJournal(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const path = join(directory, 'journal.db');
    const calls = CALLS[scale];
    await fill(path, calls);
    const size = statSync(path).size;
    const middle = calls / 2;
    const rows: Row[] = [
      { what: 'bytes a call', unit: 'bytes', ours: size / calls, goal: { of: 'ours', atMost: 603 } },
      atMost('opening, and what is unfinished', await timed(() => openOnce(path)), 500),
      atMost('the newest 50 batches with their calls', await timed(() => list(path, 50)), 50),
      atMost('a batch by its id', await timed(() => show(path, `batch-${middle}`)), 100),
      atMost('a call by its id', await timed(() => show(path, `call-${middle}`)), 100),
      atMost('a conversation', await timed(() => show(path, conversationOf(middle))), 100),
      atMost('verifying all of it', await timed(() => verify(path)), 20_000),
    ];
    const half = { before: middle, at: calls };
    rows.push(
      atMost('pruning half', await timed(() => pruneJournal(path, half)), 20_000),
      atMost('verifying the rest', await timed(() => verify(path)), 20_000),
    );
    const amount = calls.toLocaleString('en');
    return rows.map((row) => ({ ...row, what: `${row.what} (${amount} calls)` }));
  });
}

interface Took {
  readonly ms: number;
  /** Processor time: a busy machine does not stretch it. */
  readonly cpuMs: number;
}

function atMost(what: string, { ms, cpuMs }: Took, most: number): Row {
  return { what, unit: 'ms', ours: ms, cpu: cpuMs, goal: { of: 'ours', atMost: most } };
}

async function timed(action: () => unknown): Promise<Took> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await action();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000 };
}

function conversationOf(index: number): string {
  return `conversation-${Math.floor(index / CALLS_A_CONVERSATION)}`;
}

/** One call a batch, from its acceptance to its result; times are the calls' own numbers. */
async function fill(path: string, calls: number): Promise<void> {
  const journal = toolexec.openJournal(path);
  const worker = { id: '01234567-89ab-cdef-0123-456789abcdef', pid: process.pid, startedAt: 1 };
  for (let first = 0; first < calls; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, calls - first) }, (_, place) => first + place);
    await Promise.all(
      some.flatMap((index) => [
        journal.accept({
          id: `batch-${index}`,
          conversation: conversationOf(index),
          attach: true,
          at: index,
          calls: [
            {
              callId: `call-${index}`,
              toolName: 'noop',
              args: { message: 'hello world', count: 3 },
              effects: [{ kind: 'unknown' }],
              disposition: 'execute_now',
              reason: 'no policy is set',
            },
          ],
          worker,
        }),
        journal.claim(`batch-${index}/0`, worker, index),
      ]),
    );
    await Promise.all(
      some.map((index) => journal.finish(`batch-${index}/0`, resultOf(index), index, worker)),
    );
  }
  await journal.close();
}

function resultOf(index: number) {
  return {
    callId: `call-${index}`,
    toolName: 'noop',
    success: true,
    output: 'hello world',
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  } as const;
}

async function openOnce(path: string): Promise<void> {
  const journal = toolexec.openJournal(path);
  const unfinished = await journal.unfinished();
  await journal.close();
  if (unfinished.length > 0) throw new Error(`${unfinished.length} calls have no result.`);
}

function list(path: string, limit: number): void {
  const archive = openArchive(path);
  const rows = archive.batches({ limit }).map((batch) => archive.calls(batch.id));
  archive.close();
  if (rows.length !== limit) throw new Error(`${rows.length} of ${limit} batches are listed.`);
}

/** In the order of the command: by batch, by conversation, by call. */
function show(path: string, id: string): void {
  const archive = openArchive(path);
  const batch = archive.batch(id);
  const batches = batch === undefined ? archive.batches({ conversation: id }) : [batch];
  const ids = batches.length > 0 ? batches.map((each) => each.id) : archive.batchesOfCall(id);
  const found = ids.flatMap((each) => archive.calls(each).map((call) => archive.notes(call)));
  archive.close();
  if (found.length === 0) throw new Error(`"${id}" is not found.`);
}

function verify(path: string): void {
  const verification = verifyJournal(path);
  if (!verification.intact) throw new Error(verification.reason);
}
