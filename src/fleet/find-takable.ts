import type { Clock } from '../contract/context.js';
import type { CallRecord, Journal, JournalNote, RunningCount, WorkerOffer } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { BY_HOST, isPersons } from '../executor/approve/ask-approval.js';
import { readConsentNote } from '../executor/approve/decide-placed.js';
import { isOutOfOrder, placedEffects } from '../executor/record/shared-order.js';
import { countRunning, isHeldBack } from '../journal/records/fair-order.js';
import type { Candidates } from './candidates.js';

/** The number of calls that are examined closely for each call that may be returned. */
const PATIENCE = 8;
/** After this time without consent, a question or a refusal, the host of a call counts as dead; in milliseconds. */
const UNASKED_MS = 120_000;

/** A call that may start now. */
export interface TakableCall {
  readonly record: CallRecord;
  /** The approved arguments. */
  readonly args: JsonObject;
  readonly consent: Consent;
}

/**
 * Who agreed to a call. `none`: this worker evaluates it, and defers it if it needs approval. `person`: one who saw the
 * question. `host`: it asks no question, on purpose. `advance`: a rule, a mode or an option.
 */
type Consent = 'none' | 'person' | 'host' | 'advance';

export interface Look {
  readonly takable: readonly TakableCall[];
  /** Other queued calls may become takable when a call ends. */
  readonly leftBehind: boolean;
}

export interface TakableContext {
  readonly journal: Journal;
  readonly offer: WorkerOffer;
  readonly candidates: Candidates;
  readonly clock: Clock;
  readonly conflicts: (a: CallRecord, b: CallRecord) => boolean;
  /** The worker has the tool, and does not run the call already. */
  readonly isWanted: (record: CallRecord) => boolean;
  /** Called for a call whose start deadline has passed. */
  readonly late: (record: CallRecord, startDeadlineMs: number) => Promise<void>;
  /** Called for a call that the person has refused, and that its decider has not answered. */
  readonly denied: (record: CallRecord, reason: string | undefined) => Promise<void>;
  /** Called for a call that needs consent, if no host is asking for it now. */
  readonly unasked: (record: CallRecord) => Promise<void>;
  /** Called for a call that was refused when it was accepted, and whose host has not recorded the refusal. */
  readonly unanswered: (record: CallRecord) => Promise<void>;
  /** Recovers calls of dead processes that block other calls. */
  readonly recoverLost: (running: readonly CallRecord[]) => Promise<void>;
}

/**
 * The queued calls that a worker may start now, in fair order: tenants and conversations take turns, so many calls of
 * one do not hold up another.
 *
 * 1. A call waits for every earlier call of its conversation that it conflicts with.
 * 2. A call that needs consent waits until that is recorded.
 */
export async function findTakable(most: number, context: TakableContext): Promise<Look> {
  const { conflicts, isWanted } = context;
  const found: TakableCall[] = [];
  let leftBehind = false;
  const quotas = new OpenQuotas(context);
  let looks = most * PATIENCE;
  const chosen: CallRecord[] = [];
  const records = context.candidates.read(context.journal, context.offer);
  while (found.length < most && looks > 0) {
    const { value: record } = await records.next();
    if (record === undefined) return { takable: found, leftBehind };
    if (record.disposition === 'pre_resolved') {
      if (isHostDead(record, context)) await context.unanswered(record);
      continue;
    }
    if (!isWanted(record)) continue;
    // These checks are cheaper than questions to the journal, which decides about the other calls.
    const isHeld = chosen.some((other) => isBehind(record, other, conflicts));
    if (isHeld || !(await quotas.admit(record, found))) {
      leftBehind = true;
      continue;
    }
    looks--;
    chosen.push(record);
    const takable = await examine(record, context);
    if (takable === undefined) leftBehind = true;
    else found.push(takable);
  }
  // There may be more calls than were looked at.
  return { takable: found, leftBehind: true };
}

/** The quotas, with the calls that this look has found. The claim decides; this saves claims that would fail. */
class OpenQuotas {
  readonly #context: TakableContext;
  #running: readonly RunningCount[] | undefined;

  constructor(context: TakableContext) {
    this.#context = context;
  }

  async admit(record: CallRecord, found: readonly TakableCall[]): Promise<boolean> {
    const { journal, offer } = this.#context;
    if (record.placement?.quotas === undefined && offer.quotas === undefined) return true;
    this.#running ??= (await journal.running?.()) ?? [];
    const taken = countRunning(
      found.map(({ record }) => record),
      journal.tenant,
    );
    return !isHeldBack(record, [...this.#running, ...taken], offer.quotas, journal.tenant);
  }
}

/** Calls of equal priority come in the order of acceptance. */
function isBehind(record: CallRecord, other: CallRecord, conflicts: TakableContext['conflicts']): boolean {
  const hasSamePriority = (other.placement?.priority ?? 0) === (record.placement?.priority ?? 0);
  return hasSamePriority && other.conversation === record.conversation && conflicts(other, record);
}

async function examine(record: CallRecord, context: TakableContext): Promise<TakableCall | undefined> {
  const { journal, clock } = context;
  const { startDeadlineMs } = record.placement ?? {};
  if (startDeadlineMs !== undefined && clock.now() >= (await freeSince(record, journal)) + startDeadlineMs) {
    await context.late(record, startDeadlineMs);
    return undefined;
  }
  const consent = await readConsent(record, journal);
  if (consent !== undefined && 'denied' in consent) {
    await context.denied(record, consent.denied);
    return undefined;
  }
  if (consent === undefined && needsQuestion(record) && isHostDead(record, context))
    await context.unasked(record);
  return consent === undefined || (await mustWait(record, context)) ? undefined : { record, ...consent };
}

function isHostDead({ acceptedAt }: CallRecord, { clock }: TakableContext): boolean {
  return clock.now() >= acceptedAt + UNASKED_MS;
}

function needsQuestion({ disposition, decision }: CallRecord): boolean {
  return disposition === 'requires_confirmation' && decision === undefined;
}

/** The time at which the call was accepted or approved, in milliseconds since the epoch. */
export async function freeSince(
  { acceptedAt, decision, batchId }: CallRecord,
  journal: Journal,
): Promise<number> {
  if (decision !== 'resume') return acceptedAt;
  return (await journal.decisions(batchId)).at(-1)?.at ?? acceptedAt;
}

/** Undefined: there is no consent yet. `denied`: the person has refused the call. */
async function readConsent(
  record: CallRecord,
  journal: Journal,
): Promise<Omit<TakableCall, 'record'> | { readonly denied: string | undefined } | undefined> {
  const { disposition, placement, args } = record;
  const isUnplanned = placement?.unplanned === true;
  const isUnasked = placement?.unasked === true;
  if (disposition === 'execute_now' && !isUnplanned) return { args, consent: isUnasked ? 'host' : 'advance' };
  const last = await readConsentNote(record, journal);
  if (last === undefined) return isUnplanned ? { args, consent: 'none' } : undefined;
  return last.data.approved === true
    ? { args: approvedArguments(last) ?? args, consent: isUnasked ? 'host' : consentIn(last) }
    : deniedBy(last);
}

function consentIn({ data: { by } }: JournalNote): Consent {
  if (by === BY_HOST) return 'host';
  return isPersons(typeof by === 'string' ? by : undefined) ? 'person' : 'advance';
}

function deniedBy({ data: { reason } }: JournalNote): { readonly denied: string | undefined } {
  return { denied: typeof reason === 'string' ? reason : undefined };
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
  const blocking = [...before, ...others].filter((other) => !isOutOfOrder(other) && conflicts(other, record));
  await recoverLost(blocking);
  return blocking.length > 0;
}
