import type { CallKey } from '../contract/journal.js';
import { perhapsQueued } from './answer/refuse-ready.js';
import { reasonOf } from './answer/results.js';
import { approverOf } from './approve/approve-batch.js';
import { BY_HOST } from './approve/ask-approval.js';
import { awaitElsewhere, type OpenCall } from './record/await-elsewhere.js';
import { hint } from './record/hint.js';
import type { Recorder } from './record/recorder.js';
import type { Batch } from './run-batch.js';
import { answerCall, runCall } from './run-call.js';

/**
 * Runs a planned, recorded and approved batch on the workers of a fleet. In the journal its calls have no process. The
 * consent of the person or of the host is recorded for each call, and no worker starts a call without it.
 */
export async function runElsewhere(batch: Batch, recorder: Recorder): Promise<void> {
  const { calls, scope, options } = batch;
  const { settings, placement } = scope;
  const { journal, clock, timeouts } = settings;
  const open = new Map<CallKey, OpenCall>();
  for (const [index, call] of calls.entries()) {
    if (call.kind === 'resolved' || !batch.runsForReal(call)) {
      await runCall(index, call, batch);
      continue;
    }
    open.set(recorder.key(index), { index, call: call.call });
    if (call.needsApproval && approverOf(options, scope) === null)
      recorder.note(index, call.call.id, 'approval', { approved: true, by: BY_HOST });
  }
  if (open.size === 0 || journal === null) return;
  try {
    await batch.recorded();
    hint(settings, [...open.keys()]);
    await awaitElsewhere(open, {
      ...{ journal, clock, batchId: scope.id, patienceMs: timeouts.default.ms },
      startDeadlineMs: placement?.startDeadlineMs,
      stop: { reason: () => batch.stopReason, happens: batch.stopped },
      started: ({ call }) => scope.observer?.started(call),
      answered: ({ index, call }, result) => answerCall(index, call, { result, recorded: true }, batch),
      recovery: batch.recovery,
    });
  } catch (error) {
    // The journal fails. Workers may be running the calls, and then record the answers.
    settings.logger.error(
      { batch: scope.id, why: reasonOf(error) },
      'the calls of workers could not be read',
    );
    for (const { index, call } of open.values())
      answerCall(index, call, { result: perhapsQueued(call, reasonOf(error)), recorded: true }, batch);
  }
}
