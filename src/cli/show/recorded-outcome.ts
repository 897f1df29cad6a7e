import type { CallRecord } from '../../contract/journal.js';

export type RecordedOutcome = 'ok' | 'failed' | 'not run' | 'unknown' | 'running' | 'queued';

/** What became of a recorded call, in a word. */
export function outcomeOf({ state, result }: Pick<CallRecord, 'state' | 'result'>): RecordedOutcome {
  if (result === undefined) return state === 'running' ? 'running' : 'queued';
  if (result.error === undefined) return 'ok';
  const { code, details } = result.error;
  if (code === 'outcome_unknown') return 'unknown';
  return details?.executed === 'no' ? 'not run' : 'failed';
}
