import type { CallRecord, Journal } from '../../contract/journal.js';
import { recordReceived } from '../receive/record-received.js';
import { RECEIVE, readStream } from '../receive/stream-record.js';
import { failure, notRun } from '../record/results.js';
import type { EngineSettings } from '../settings.js';

export function isStream({ toolName, worker }: CallRecord): boolean {
  return toolName === RECEIVE && worker === undefined;
}

/**
 * Ends a response that never came to its end (D086, D142): the calls that had come are a batch now, of which nothing
 * was started.
 * @returns the batch's id, where it was recorded now; undefined where there was nothing to record. False: it is a call
 *   like any other.
 */
export async function settleStream(
  record: CallRecord,
  journal: Journal,
  settings: EngineSettings,
): Promise<string | undefined | false> {
  const notes = await journal.notes(record.key);
  const stream = readStream(record, notes);
  if (stream === undefined) return false;
  const who = record.acceptedBy === undefined ? '' : ` (pid ${record.acceptedBy.pid})`;
  const message = `It was never started: its process${who} died while the response was still coming in.`;
  const metadata = { recovered: true, settled_by: 'recovery' };
  const results = stream.calls.map((call) => notRun(call, 'cancelled', message, {}, metadata));
  const isNew = await recordReceived(journal, settings, { ...stream, results });
  const ended = failure({ id: record.callId, name: RECEIVE }, 'cancelled', message, 'no', { metadata });
  await journal.finish(record.key, ended, settings.clock.now());
  return isNew ? stream.id : undefined;
}
