import type { RecoveredBatch, RecoveredCall } from '../contract/open-batch.js';

/** The known state of each call of a batch: `1: done (write_file), 2: unknown (bash)`. */
export function describeLeft({ calls }: Pick<RecoveredBatch, 'calls'>): string {
  return calls.map((call, index) => `${index + 1}: ${stateOf(call)} (${call.toolName})`).join(', ');
}

/** The known state of a call, in a few words. */
export function stateOf({ state, result }: RecoveredCall): string {
  if (result === undefined) return state === 'queued' ? 'not started yet' : 'started';
  const { metadata, success, error } = result;
  if (metadata.settled_by === 'person') return success ? 'done, as you said' : 'not done, as you said';
  if (metadata.recovered !== true) return success ? 'done' : 'failed';
  if (success) return 'done, as its files say';
  if (error.code === 'outcome_unknown') return 'unknown';
  return metadata.settled_by === 'probe' ? 'not done, as its files say' : 'never started';
}
