import type { ToolCall, ToolResult } from '../contract/call.js';
import { isToolError } from '../errors/tool-error.js';
import type { EndedCall } from '../hooks/event-hooks.js';
import { withLines } from '../hooks/hook-runner.js';
import { fitted } from './answer/fit-result.js';
import { refuseReady, UNRECORDED } from './answer/refuse-ready.js';
import { dryRunResult, type NamedCall } from './answer/results.js';
import { type Stop, stoppedBefore } from './answer/stopped.js';
import type { EvaluatedCall, ReadyCall, ResolvedCall } from './call/evaluated-call.js';
import { Execution } from './execute/execution.js';
import { sawResult } from './record/conversation-origins.js';
import { unknownElsewhere } from './record/other-answers.js';
import type { Batch } from './run-batch.js';

/** How a call ended. `recorded`: the answer is already in the journal, or another process records it. */
interface Ending {
  readonly result: ToolResult;
  readonly recorded?: true;
}

/**
 * The life of one call whose batch is planned, recorded and approved: turn, claim, execution, record, answer.
 *
 * 1. A call has exactly one answer. Every step up to the claim may fail, and then the answer says that the call has not
 *    run. Execution and answer never fail.
 * 2. Nothing has an effect before the claim is on disk, and only one process gets the claim.
 * 3. A stopped batch starts no further call, however long that call has waited.
 * 4. An answer is shown after it was recorded. The next call need not wait for that, because its claim is written
 *    together with the record. Only if the events have a reader, a call is completed before another one starts.
 */
export async function runCall(index: number, call: EvaluatedCall, batch: Batch): Promise<void> {
  const { scope, options, recorder, queue } = batch;
  const answer = (ending: Ending): void => answerCall(index, call.call, ending, batch);
  if (call.kind === 'resolved')
    return answer(scope.taken === undefined ? call : await refusing(index, call, batch));
  if (batch.stopReason !== undefined) return answer(stopped(call, batch.stopReason));
  if (!batch.runsForReal(call)) return answer({ result: dryRunResult(call) });
  try {
    if (recorder?.order !== undefined) await recorder.order.turn(call.effects);
    if (queue.mustWait(batch, call.effects)) await queue.turn(batch, call.effects);
    if (batch.stopReason !== undefined) return answer(stopped(call, batch.stopReason));
    const claiming = recorder?.claim(index, call) ?? true;
    const isOurs = typeof claiming === 'boolean' ? claiming : await claiming;
    if (!isOurs) {
      const given = scope.taken === undefined ? await recorder?.others.of(recorder.key(index)) : undefined;
      return answer({ result: given ?? unknownElsewhere(call.call), recorded: true });
    }
    if (scope.observer?.isRead === true) await batch.recorded();
    if (batch.stopReason !== undefined) return answer(stopped(call, batch.stopReason));
    const refusal = scope.taken?.refusal();
    if (refusal !== undefined) return answer({ result: refusal });
  } catch (error) {
    return answer(unclaimable(call, error));
  }
  const execution = new Execution({ ready: call, index, scope, options, recorder, queue });
  batch.executions[index] = execution;
  const { observer } = scope;
  const result = await (observer?.running(call.call, () => execution.run()) ?? execution.run());
  execution.end();
  batch.executions[index] = undefined;
  const said = scope.settings.hooks.batch === undefined ? result : await lastWords(index, result, batch);
  answer({ result: scope.taken?.ending === undefined ? said : await scope.taken.ending(said) });
}

/** The result of the last call of a running batch, including the messages of hooks to the batch. */
async function lastWords(index: number, result: ToolResult, batch: Batch): Promise<ToolResult> {
  const { settings, conversation, preview } = batch.scope;
  const ended = batch.calls.map((call, place) => {
    const known = call.kind === 'resolved' ? call.result : batch.answers[place];
    return { call: call.call, result: place === index ? result : known };
  });
  if (preview !== undefined || batch.stopReason !== undefined || !ended.every(hasEnded)) return result;
  const place = { conversation, agent: settings.agent, signal: batch.signal };
  return withLines(result, (await settings.hooks.batch?.(ended, place)) ?? []);
}

function hasEnded(one: {
  readonly call: ToolCall;
  readonly result: ToolResult | undefined;
}): one is EndedCall {
  return one.result !== undefined;
}

/** Gives a call its one answer: fitted into the model's remaining context, recorded, then shown. Never throws. */
export function answerCall(index: number, call: NamedCall, ending: Ending, batch: Batch): void {
  const { scope, recorder } = batch;
  const isRecorded = ending.recorded === true;
  const result = fitted(ending.result, isRecorded, scope);
  batch.answers[index] = result;
  sawResult(scope, result);
  const recording = isRecorded || recorder === undefined || recorder.finish(index, call, result);
  if (recording instanceof Promise) batch.waitsFor(recording.then((done) => show(index, call, done, batch)));
  else show(index, call, recording, batch);
  batch.answered(index, result);
}

/** @param recorded true: the answer is recorded; a result: the result replaces the answer */
function show(index: number, call: NamedCall, recorded: boolean | ToolResult, batch: Batch): void {
  const result = typeof recorded === 'boolean' ? (batch.answers[index] as ToolResult) : recorded;
  const shown =
    recorded !== false ? result : { ...result, metadata: { ...result.metadata, recorded: false } };
  batch.answers[index] = shown;
  batch.scope.observer?.completed(call, shown);
}

/** Another worker may be running the call: a refusal counts only with the claim. */
async function refusing(index: number, call: ResolvedCall, { recorder }: Batch): Promise<Ending> {
  if (call.recorded === true || recorder === undefined) return call;
  try {
    return (await recorder.take(index)) ? call : { ...call, recorded: true };
  } catch {
    return { ...call, recorded: true };
  }
}

function stopped({ call }: ReadyCall, stop: Stop): Ending {
  return { result: stoppedBefore(call, stop) };
}

function unclaimable(ready: ReadyCall, error: unknown): Ending {
  const why = isToolError(error) ? error.message : String(error);
  return { result: refuseReady(ready, 'journal_unavailable', UNRECORDED, why).result };
}
