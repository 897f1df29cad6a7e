import { abortable } from '../../base/abortable.js';
import { review } from '../approve/review.js';
import type { EngineSettings } from '../settings.js';
import type { EvaluatedCall } from './evaluated-call.js';
import { replanner } from './plan-batch.js';

interface Planning {
  /** Aborts when the batch is told to stop. */
  readonly signal: AbortSignal;
  readonly isStopped: boolean;
}

/** The part of planning that waits: for schemas of the tools' own, and for reviewers. */
export async function planSlowly(
  judging: readonly EvaluatedCall[] | Promise<readonly EvaluatedCall[]>,
  batch: Planning,
  settings: EngineSettings,
): Promise<readonly EvaluatedCall[]> {
  const judged = judging instanceof Promise ? await inTime(judging, batch, settings) : judging;
  const { reviewers } = settings;
  if (reviewers.length === 0) return judged;
  const replan = replanner(settings);
  const { signal } = batch;
  return Promise.all(
    judged.map((call) =>
      call.kind === 'ready' && !batch.isStopped ? review(call, reviewers, replan, signal) : call,
    ),
  );
}

// A schema of the tool's own may never answer; neither the batch nor its cancellation may wait for that (D107).
async function inTime<T>(
  judging: Promise<T>,
  { signal }: Planning,
  { clock, timeouts }: EngineSettings,
): Promise<T> {
  const { ms } = timeouts.default;
  const late = new AbortController();
  const forget = clock.after(ms, () =>
    late.abort(new Error(`the arguments could not be checked within ${ms}ms`)),
  );
  try {
    return await abortable(() => abortable(() => judging, signal), late.signal);
  } finally {
    forget();
  }
}
