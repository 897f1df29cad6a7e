import type { RunOptions } from '../../contract/executor.js';
import type { Acceptance, CallRecord } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { refuseReady, UNRECORDED } from '../answer/refuse-ready.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall } from '../call/evaluated-call.js';
import { attaches } from '../call/run-options.js';
import { attachToRecord } from './attach.js';
import type { Recorder } from './recorder.js';

interface Accepting {
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly recorder: Recorder;
  readonly recovery: {
    /** Recovers what dead processes left, once. Undefined: that is done. */
    ensure(): Promise<void> | undefined;
  };
}

/**
 * Records a batch whole, before any of it may have an effect. A call that was delivered before is answered from the
 * journal, or as it is answered where it runs now; where nothing can be recorded, nothing runs. Never rejects.
 */
export function acceptBatch(
  evaluated: readonly EvaluatedCall[],
  parts: Accepting,
): readonly EvaluatedCall[] | Promise<readonly EvaluatedCall[]> {
  const { options, recorder, recovery } = parts;
  const recovering = recovery.ensure();
  if (recovering !== undefined || options.again === true || recorder.unrecorded.size > 0) {
    return acceptAfter(recovering, evaluated, parts);
  }
  try {
    const accepted = accept(evaluated, recorder, attaches(options));
    if (!(accepted instanceof Promise)) return accepted;
    return accepted.catch((error: unknown) => answerKnown(evaluated, parts, error));
  } catch (error) {
    return answerKnown(evaluated, parts, error);
  }
}

/** What was delivered before keeps its answer, also where nothing new can be recorded. */
async function answerKnown(
  evaluated: readonly EvaluatedCall[],
  { scope, options, recorder }: Accepting,
  error: unknown,
): Promise<readonly EvaluatedCall[]> {
  if (!attaches(options)) return refuseUnrecorded(evaluated, scope, error);
  const earlier = await recorder.findEarlier(evaluated);
  const known = evaluated.map((call, index) => {
    const answer = earlier[index];
    return answer?.kind === 'known' && isFinal(answer.record) ? attachToRecord(call, answer) : call;
  });
  return refuseUnrecorded(known, scope, error);
}

/** An answer that was given for want of a record is none: the call may run when the journal works again. */
function isFinal({ result, worker }: CallRecord): boolean {
  if (result === undefined) return worker !== undefined;
  return result.error?.code !== 'journal_unavailable' || result.error.details?.executed !== 'no';
}

/** What has to come first: recovery, answers that could not be recorded, and what a crash left half done. */
async function acceptAfter(
  recovering: Promise<void> | undefined,
  evaluated: readonly EvaluatedCall[],
  parts: Accepting,
): Promise<readonly EvaluatedCall[]> {
  const { scope, options, recorder } = parts;
  try {
    if (recovering !== undefined) await recorder.patiently(recovering);
    if (recorder.unrecorded.size > 0) await recorder.patiently(recorder.unrecorded.flush());
    // What waits for the person after a crash holds its conversation also against running again.
    const isNamedAgain = options.again === true && options.conversation !== undefined;
    const attach = isNamedAgain ? await recorder.patiently(isHeld(scope)) : attaches(options);
    return await accept(evaluated, recorder, attach);
  } catch (error) {
    return answerKnown(evaluated, parts, error);
  }
}

async function isHeld({ conversation, settings: { journal } }: BatchScope): Promise<boolean> {
  for (const { id } of (await journal?.batches({ conversation, waiting: true })) ?? []) {
    const last = (await journal?.decisions(id))?.at(-1);
    if (last?.kind === 'wait' && last.data.why !== 'approval') return true;
  }
  return false;
}

function accept(
  evaluated: readonly EvaluatedCall[],
  recorder: Recorder,
  attach: boolean,
): readonly EvaluatedCall[] | Promise<readonly EvaluatedCall[]> {
  const answers = recorder.accept(attach, evaluated);
  if (answers instanceof Promise) {
    return answers.then((given) => attachAll(evaluated, recorder, attach, given));
  }
  return attachAll(evaluated, recorder, attach, answers);
}

function attachAll(
  evaluated: readonly EvaluatedCall[],
  recorder: Recorder,
  attach: boolean,
  answers: readonly Acceptance[],
): readonly EvaluatedCall[] | Promise<readonly EvaluatedCall[]> {
  if (!attach) return evaluated;
  const attached = (answered: readonly Acceptance[]): readonly EvaluatedCall[] =>
    evaluated.map((call, index) => attachToRecord(call, answered[index]));
  const others = recorder.awaitOthers(answers);
  return others === undefined ? attached(answers) : others.then(attached);
}

/** Nothing runs that could not be accounted for. */
export function refuseUnrecorded(
  evaluated: readonly EvaluatedCall[],
  { id, settings }: BatchScope,
  error: unknown,
): readonly EvaluatedCall[] {
  const why = isToolError(error) ? error.message : String(error);
  const whole = isToolError(error) && error.hint !== undefined ? `${why} ${error.hint}` : why;
  settings.logger.error({ batch: id, code: 'journal_unavailable', why: whole }, 'nothing new is run');
  return evaluated.map((call) =>
    call.kind === 'ready' ? refuseReady(call, 'journal_unavailable', UNRECORDED, why) : call,
  );
}
