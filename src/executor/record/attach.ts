import type { ToolResult } from '../../contract/call.js';
import type { Acceptance, CallRecord, Journal, Settlement } from '../../contract/journal.js';
import { pending, refuseReady } from '../answer/refuse-ready.js';
import { failure } from '../answer/results.js';
import type { EvaluatedCall, ResolvedCall } from '../call/evaluated-call.js';
import type { RecordSettings } from '../call/settings.js';
import { readTaker } from './read-taker.js';
import { unrecordedResultsOf } from './unrecorded-results.js';

type World = Pick<RecordSettings, 'isWorkerAlive' | 'clock'> & { readonly journal: Journal };

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

/**
 * Handles a call that its conversation may have seen before: the same call is answered from the journal; the
 * same id with other arguments is refused.
 */
export function attachToRecord(call: EvaluatedCall, acceptance: Acceptance | undefined): EvaluatedCall {
  if (acceptance === undefined || acceptance.kind === 'fresh') return call;
  if (acceptance.kind === 'waits') return refuseWaiting(call, acceptance);
  if (acceptance.kind === 'conflict') {
    if (call.kind === 'resolved') return call;
    const message = `The call id "${call.call.id}" was used before in this conversation, with other arguments. Give the call an id of its own.`;
    return refuseReady(call, 'duplicate_tool_call_id', message);
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
    const message = `${toolName} had not taken effect when its process died: the person has looked. It can be repeated.`;
    return failure({ id: callId, name: toolName }, 'cancelled', message, 'no', { metadata: told });
  }
  const output = `${toolName} had taken effect when its process died: the person has looked. What it printed is lost.`;
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
  yes: 'It had been run.',
  maybe: 'It may have been run.',
};

/**
 * Waits for calls that were delivered before and run right now, here or in another process, and shares their
 * answers (D085). The wait ends when the other process dies, and after `limitMs` at the latest; a call
 * without an answer by then stays as it was. Undefined: no call needs the wait.
 */
export function awaitDeliveries(
  answers: readonly Acceptance[],
  world: World,
  batch: { readonly stopped: Promise<void> },
  limitMs: number,
): Promise<readonly Acceptance[]> | undefined {
  const { size } = unrecordedResultsOf(world.journal);
  const known = size === 0 ? answers : answers.map((answer) => withUnrecorded(answer, world));
  if (known.some(wasTakenOver)) return pollTaken(known, world, batch, limitMs);
  if (known.some(isOpen)) return poll(known, world, batch, limitMs);
  return known === answers ? undefined : Promise.resolve(known);
}

/** Whether a deferred call is approved but has not begun. It belongs to the process that approved it. */
function wasTakenOver(answer: Acceptance): boolean {
  if (answer.kind !== 'known') return false;
  const { result, decision, worker } = answer.record;
  return result === undefined && worker === undefined && decision === 'resume';
}

async function pollTaken(...given: Parameters<typeof poll>): Promise<readonly Acceptance[]> {
  const [answers, world, ...more] = given;
  const owned = await Promise.all(answers.map((answer) => withTaker(answer, world)));
  return poll(owned, world, ...more);
}

async function withTaker(answer: Acceptance, { journal }: World): Promise<Acceptance> {
  if (answer.kind !== 'known' || !wasTakenOver(answer)) return answer;
  const taker = readTaker((await journal.decisions(answer.record.batchId)).at(-1));
  return taker === undefined ? answer : { ...answer, record: { ...answer.record, acceptedBy: taker } };
}

async function poll(
  answers: readonly Acceptance[],
  world: World,
  batch: { readonly stopped: Promise<void> },
  limitMs: number,
): Promise<readonly Acceptance[]> {
  const { clock } = world;
  const end = clock.monotonic() + limitMs;
  let isStopped = false;
  const stop = batch.stopped.then(() => {
    isStopped = true;
  });
  let current = answers;
  for (let pauseMs = FIRST_PAUSE_MS; !isStopped && clock.monotonic() < end; ) {
    // Read once more: a process that has just died may have recorded the answer after the last read.
    if (!current.some((answer) => isUnderWay(answer, world))) return readAll(current, world);
    let forget = (): void => {};
    const pause = new Promise<void>((done) => {
      forget = clock.after(pauseMs, done);
    });
    await Promise.race([pause, stop]);
    forget();
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    current = await readAll(current, world);
  }
  return current;
}

/** Whether a call has no answer and does not wait for the person. */
function isOpen(answer: Acceptance): boolean {
  return answer.kind === 'known' && answer.record.result === undefined && answer.record.decision !== 'wait';
}

/** Whether an open call belongs to a process that is alive. */
function isUnderWay(answer: Acceptance, { isWorkerAlive }: Pick<World, 'isWorkerAlive'>): boolean {
  if (answer.kind !== 'known' || !isOpen(answer)) return false;
  const owner = answer.record.worker ?? answer.record.acceptedBy;
  return owner !== undefined && isWorkerAlive(owner);
}

function readAll(answers: readonly Acceptance[], world: World): Promise<readonly Acceptance[]> {
  return Promise.all(answers.map((answer) => readAgain(answer, world)));
}

async function readAgain(answer: Acceptance, world: World): Promise<Acceptance> {
  if (answer.kind !== 'known' || !isOpen(answer)) return answer;
  const record = await world.journal.call(answer.record.key);
  return withTaker(withUnrecorded(record === undefined ? answer : { ...answer, record }, world), world);
}

/** Adds an answer that this process has given but could not record yet. */
export function withUnrecorded(answer: Acceptance, { journal }: Pick<World, 'journal'>): Acceptance {
  if (answer.kind !== 'known' || answer.record.result !== undefined) return answer;
  const result = unrecordedResultsOf(journal).of(answer.record.key);
  if (result === undefined) return answer;
  const record: CallRecord = { ...answer.record, state: 'done', result };
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

function recorded({ call, effects }: EvaluatedCall, result: ToolResult, reason: string): ResolvedCall {
  return { kind: 'resolved', call, result, reason, effects, recorded: true };
}
