import type { ToolResult } from '../../contract/call.js';
import type { Acceptance, CallRecord, Journal, Settlement } from '../../contract/journal.js';
import { pending, refuseReady } from '../answer/refuse-ready.js';
import { failure, notRun } from '../answer/results.js';
import type { EvaluatedCall, ResolvedCall } from '../call/evaluated-call.js';
import type { RecordSettings } from '../call/settings.js';
import { pollUntil } from './poll-until.js';
import { isForAnyWorker, ownerOf } from './read-taker.js';
import { unrecordedResultsOf } from './unrecorded-results.js';

/** The context for waiting for calls of other processes. */
export interface AttachContext extends Pick<RecordSettings, 'isWorkerAlive' | 'clock'> {
  readonly journal: Journal;
  /** Resolves when the batch is stopped; then no wait continues. */
  readonly stopped: Promise<void>;
  /** How long the journal may fail during a wait, in milliseconds. */
  readonly patienceMs: number;
  readonly recovery: CallRecovery;
}

/** Recovers the calls of dead processes. Never rejects. */
export interface CallRecovery {
  recoverLeft(): Promise<void>;
  /** The running calls among these whose worker is gone. */
  recoverLost(running: readonly CallRecord[]): Promise<void>;
}

/** The message for a call whose id has other arguments in the journal. */
export function usedBefore(callId: string): string {
  return `The call id "${callId}" was used before in this conversation, with other arguments. Give the call a different id.`;
}

/**
 * Handles a call that its conversation may have seen before: the same call is answered from the journal; the
 * same id with other arguments is refused.
 */
export function attachToRecord(call: EvaluatedCall, acceptance: Acceptance | undefined): EvaluatedCall {
  if (acceptance === undefined || acceptance.kind === 'fresh') return call;
  if (acceptance.kind === 'waits') return refuseWaiting(call, acceptance);
  if (acceptance.kind === 'over_quota') return refuseOverQuota(call, acceptance);
  if (acceptance.kind === 'conflict') {
    if (call.kind === 'resolved') return call;
    return refuseReady(call, 'duplicate_tool_call_id', usedBefore(call.call.id));
  }
  // This also applies to a call that would be refused today, because the outcome of the first delivery stays
  // true.
  const { result, decision, state, batchId } = acceptance.record;
  if (result === undefined && state === 'queued' && decision === 'wait') return pending(call, batchId);
  if (result === undefined) {
    const message =
      'This call was delivered before and has no answer yet: it is being run, or its process has died.';
    return recorded(call, failure(call.call, 'outcome_unknown', message, 'maybe'), message);
  }
  const told = asDecided(acceptance.record, result);
  const replayed = { ...told, metadata: { ...told.metadata, replayed: true } };
  return recorded(call, replayed, 'answered from the journal: this call was delivered before');
}

/** Adapts a recorded result to the person's decision about its batch. */
export function asDecided({ decision, settled }: CallRecord, result: ToolResult): ToolResult {
  if (decision === 'discard') return discarded(result);
  return settled === undefined ? result : settledResult(settled, result);
}

/** Replaces an unknown outcome with the outcome that the person reported. */
function settledResult(settled: Settlement, { callId, toolName, metadata }: ToolResult): ToolResult {
  const told = { ...metadata, settled_by: 'person' };
  if (settled === 'not_applied') {
    const message = `${toolName} had not taken effect when its process died: the person has checked. It can be repeated.`;
    return failure({ id: callId, name: toolName }, 'cancelled', message, 'no', { metadata: told });
  }
  const output = `${toolName} had taken effect when its process died: the person has checked. What it printed is lost.`;
  return { callId, toolName, success: true, output, truncated: false, executionTimeMs: 0, metadata: told };
}

/**
 * The result of a batch that the person has discarded. It still says whether the call ran, but its output is
 * dropped.
 */
function discarded(result: ToolResult): ToolResult {
  const executed = result.success ? 'yes' : (result.error.details?.executed ?? 'maybe');
  const message = `Discarded by the user. ${TOLD[String(executed)] ?? TOLD.maybe}`;
  const { output: _, structured: __, error: ___, outputRef: ____, content: _____, ...rest } = result;
  return {
    ...rest,
    success: false,
    output: '',
    error: { code: 'cancelled', message, details: { executed } },
  };
}

const TOLD: Readonly<Record<string, string>> = {
  no: 'It was not run.',
  yes: 'It had run.',
  maybe: 'It may have run.',
};

/**
 * The same call was delivered before and is running now, here or in another process: both deliveries get the answer of
 * that run (D085). Waits while its process lives, however long that takes; the calls of a dead process are recovered
 * first. Undefined: no call has to be waited for.
 */
export function awaitDeliveries(
  answers: readonly Acceptance[],
  world: AttachContext,
): Promise<readonly Acceptance[]> | undefined {
  const { size } = unrecordedResultsOf(world.journal);
  const known = size === 0 ? answers : answers.map((answer) => withUnrecorded(answer, world));
  if (known.some(isOpen)) return poll(known, world);
  return known === answers ? undefined : Promise.resolve(known);
}

async function poll(answers: readonly Acceptance[], world: AttachContext): Promise<readonly Acceptance[]> {
  let current = answers;
  let left: readonly Acceptance[] = [];
  const look = async (): Promise<boolean> => {
    current = await Promise.all(current.map((answer) => readAgain(answer, world)));
    const open = current.filter(isOpen);
    const lives = await Promise.all(open.map((answer) => isUnderWay(answer, world)));
    left = open;
    await world.recovery.recoverLost(
      open.flatMap((answer) => (answer.kind === 'known' ? [answer.record] : [])),
    );
    return !lives.includes(true);
  };
  await pollUntil(look, { clock: world.clock, stopped: world.stopped, patienceMs: world.patienceMs });
  if (left.length === 0) return current;
  // If the process has gone since the read, it may have recorded the answer before; otherwise recovery answers the
  // call.
  await world.recovery.recoverLeft();
  return Promise.all(current.map((answer) => readAgain(answer, world)));
}

/** Whether a call has no answer and does not wait for the person. */
function isOpen(answer: Acceptance): boolean {
  return answer.kind === 'known' && answer.record.result === undefined && answer.record.decision !== 'wait';
}

/** The process that has the call is alive. */
async function isUnderWay(answer: Acceptance, { journal, isWorkerAlive }: AttachContext): Promise<boolean> {
  if (answer.kind !== 'known') return false;
  if (isForAnyWorker(answer.record)) return true;
  const owner = await ownerOf(answer.record, journal);
  return owner !== undefined && isWorkerAlive(owner);
}

async function readAgain(answer: Acceptance, world: AttachContext): Promise<Acceptance> {
  if (answer.kind !== 'known' || !isOpen(answer)) return answer;
  const record = await world.journal.call(answer.record.key);
  return withUnrecorded(record === undefined ? answer : { ...answer, record }, world);
}

/** This process has answered the call and could not record the answer yet. */
export function withUnrecorded(answer: Acceptance, { journal }: Pick<AttachContext, 'journal'>): Acceptance {
  if (answer.kind !== 'known' || answer.record.result !== undefined) return answer;
  const result = unrecordedResultsOf(journal).of(answer.record.key);
  if (result === undefined) return answer;
  const told = { ...result, metadata: { ...result.metadata, recorded: false } };
  const record: CallRecord = { ...answer.record, state: 'done', result: told };
  return { ...answer, record };
}

type Blocked = Extract<Acceptance, { readonly kind: 'waits' }>;

/**
 * Refuses every call of a conversation until the person has decided about calls that a crash left half done.
 */
function refuseWaiting(call: EvaluatedCall, { batchId }: Blocked): ResolvedCall {
  if (call.kind === 'resolved') return { ...call, recorded: true };
  const message =
    'Nothing was run: earlier calls of this conversation were left half done, and wait for the person to decide.';
  const hint =
    `Decide with "toolexec journal recover --resume ${batchId}" or "--discard ${batchId}", in a program with ` +
    'executor.decide().';
  const refused = refuseReady(call, 'cancelled', message, hint);
  const result = { ...refused.result, metadata: { waits_for: batchId } };
  return { ...refused, result, recorded: true };
}

/** How long the caller should wait before the next attempt, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

/** Refuses every call of a batch that was not accepted. Nothing is recorded, so a later delivery is a new one. */
function refuseOverQuota(
  call: EvaluatedCall,
  { open, quota }: Extract<Acceptance, { readonly kind: 'over_quota' }>,
): ResolvedCall {
  if (call.kind === 'resolved') return { ...call, recorded: true };
  const message =
    `Not accepted: the tenant has ${open} open calls, its quota is ${quota}, and these calls would exceed it. ` +
    'Send them again later, or fewer at once.';
  const result = notRun(call.call, 'quota_exceeded', message, {
    retry_after_ms: RETRY_AFTER_MS,
    open,
    quota,
  });
  return recorded(call, result, message);
}

function recorded({ call, effects }: EvaluatedCall, result: ToolResult, reason: string): ResolvedCall {
  return { kind: 'resolved', call, result, reason, effects, recorded: true };
}
