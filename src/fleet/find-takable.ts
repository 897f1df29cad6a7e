import type { Clock } from '../contract/context.js';
import type { CallRecord, Journal, JournalNote, WorkerOffer } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { isDeferred, placedEffects } from '../executor/record/shared-order.js';

/** The number of queued calls that are read together. */
const PAGE = 256;
/** The number of calls that are examined closely for each call that may be returned. */
const PATIENCE = 8;

/** A call that may start now. */
export interface TakableCall {
  readonly record: CallRecord;
  /** The approved arguments. */
  readonly args: JsonObject;
  /**
   * The person or the host has agreed. False: this worker evaluates the call, and defers it if it needs
   * approval.
   */
  readonly isAgreed: boolean;
}

export interface TakableContext {
  readonly journal: Journal;
  readonly offer: WorkerOffer;
  readonly clock: Clock;
  readonly conflicts: (a: CallRecord, b: CallRecord) => boolean;
  /** The worker has the tool, and does not run the call already. */
  readonly isWanted: (record: CallRecord) => boolean;
  /** Called for a call whose start deadline has passed. */
  readonly late: (record: CallRecord, startDeadlineMs: number) => Promise<void>;
  /** Recovers calls of dead processes that block other calls. */
  readonly recoverLost: (running: readonly CallRecord[]) => Promise<void>;
}

/**
 * The queued calls that a worker may start now, in order of priority, then by the number of earlier calls of
 * their conversation, then by age. So a conversation with a thousand calls does not block another one.
 *
 * 1. A call waits for every earlier call of its conversation that it conflicts with.
 * 2. A call that needs consent waits until that is recorded.
 */
export async function findTakable(most: number, context: TakableContext): Promise<readonly TakableCall[]> {
  const { conflicts, isWanted } = context;
  const found: TakableCall[] = [];
  let looks = most * PATIENCE;
  const chosen: Queued[] = [];
  for (const queued of inTurn(await readQueued(context))) {
    if (found.length >= most || looks <= 0) break;
    const { record, age } = queued;
    if (!isWanted(record)) continue;
    // This check is cheaper than a question to the journal, which decides about the other calls.
    if (chosen.some((other) => other.age < age && isBehind(record, other.record, conflicts))) continue;
    looks--;
    chosen.push(queued);
    const takable = await examine(record, context);
    if (takable !== undefined) found.push(takable);
  }
  return found;
}

async function readQueued({ journal, offer }: TakableContext): Promise<readonly CallRecord[]> {
  const all: CallRecord[] = [];
  for (let after: string | undefined; ; ) {
    const place = after === undefined ? {} : { after };
    const page = (await journal.queued?.({ limit: PAGE, offer, ...place })) ?? [];
    all.push(...page);
    after = page.at(-1)?.key;
    if (page.length < PAGE || after === undefined) return all;
  }
}

interface Queued {
  readonly record: CallRecord;
  /** Its place in the order of acceptance. */
  readonly age: number;
}

/** By priority, and among equals one call of each conversation after the other. */
function inTurn(records: readonly CallRecord[]): readonly Queued[] {
  const count = new Map<string, number>();
  const ranked = records.map((record, age) => {
    const rank = count.get(record.conversation) ?? 0;
    count.set(record.conversation, rank + 1);
    return { record, rank, age, priority: record.placement?.priority ?? 0 };
  });
  ranked.sort((a, b) => b.priority - a.priority || a.rank - b.rank || a.age - b.age);
  return ranked;
}

function isBehind(record: CallRecord, other: CallRecord, conflicts: TakableContext['conflicts']): boolean {
  return other.conversation === record.conversation && conflicts(other, record);
}

async function examine(record: CallRecord, context: TakableContext): Promise<TakableCall | undefined> {
  const { journal, clock } = context;
  const { startDeadlineMs } = record.placement ?? {};
  if (startDeadlineMs !== undefined && clock.now() >= (await freeSince(record, journal)) + startDeadlineMs) {
    await context.late(record, startDeadlineMs);
    return undefined;
  }
  const consent = await readConsent(record, journal);
  return consent === undefined || (await mustWait(record, context)) ? undefined : { record, ...consent };
}

/** The time at which the call was accepted or approved, in milliseconds since the epoch. */
export async function freeSince(
  { acceptedAt, decision, batchId }: CallRecord,
  journal: Journal,
): Promise<number> {
  if (decision !== 'resume') return acceptedAt;
  return (await journal.decisions(batchId)).at(-1)?.at ?? acceptedAt;
}

async function readConsent(
  record: CallRecord,
  journal: Journal,
): Promise<Omit<TakableCall, 'record'> | undefined> {
  const { disposition, placement, args } = record;
  const isUnplanned = placement?.unplanned === true;
  if (disposition === 'pre_resolved') return undefined;
  if (disposition === 'execute_now' && !isUnplanned) return { args, isAgreed: true };
  const last = (await journal.notes(record.key)).findLast(({ kind }) => kind === 'approval');
  if (last === undefined) return isUnplanned ? { args, isAgreed: false } : undefined;
  return last.data.approved === true ? { args: approvedArguments(last) ?? args, isAgreed: true } : undefined;
}

/** The person may have changed the arguments. */
function approvedArguments({ data: { args } }: JournalNote): JsonObject | undefined {
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
  return isObject ? (args as JsonObject) : undefined;
}

async function mustWait(record: CallRecord, context: TakableContext): Promise<boolean> {
  const { journal, conflicts, recoverLost } = context;
  if (placedEffects(record).length === 0) return false;
  const siblings = record.index === 0 ? [] : await journal.batch(record.batchId);
  const before = siblings.filter(
    (other) => other.batchId === record.batchId && other.index < record.index && other.result === undefined,
  );
  const others = (await journal.waiting?.(record.batchId)) ?? [];
  const blocking = [...before, ...others].filter((other) => !isDeferred(other) && conflicts(other, record));
  await recoverLost(blocking);
  return blocking.length > 0;
}
