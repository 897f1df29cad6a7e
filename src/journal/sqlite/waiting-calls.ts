import type { CallRecord, Worker } from '../../contract/journal.js';
import { toStoredText } from '../records/stored-text.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';
import { CALLS, toRecord } from './read-calls.js';

const WAITING = `
  ${CALLS} JOIN batches own ON own.id = ?
  WHERE c.number IN (SELECT call FROM unfinished) AND c.conversation = own.conversation AND c.batch <> own.number
    AND (c.number < own.number OR k.call IS NOT NULL)
  ORDER BY c.number`;

/** The calls that the calls of a batch may have to wait for; oldest first. */
export function readWaiting(database: JournalDatabase, batchId: string): readonly CallRecord[] {
  return database
    .prepared(WAITING)
    .all(toStoredText(batchId))
    .map((row) => toRecord(database, row));
}

// After approval, a waiting batch may belong to another worker; a batch with a placement may go to any worker.
const OF_OTHERS = `
  SELECT DISTINCT c.conversation FROM unfinished u JOIN calls c ON c.number = u.call JOIN batches b ON b.number = c.batch
  LEFT JOIN workers w ON w.number = b.worker LEFT JOIN decided d ON d.batch = b.number
  LEFT JOIN claims k ON k.call = c.number
  WHERE coalesce(k.worker, w.id) <> ?1 OR d.kind = 'resume' OR (coalesce(k.worker, w.id) IS NULL AND EXISTS (
    SELECT 1 FROM batch_notes p WHERE p.batch = b.number AND p.kind = 'placement'))`;

/**
 * Whether another worker has an unfinished call in a conversation.
 *
 * @param conversation in stored form.
 */
export function hasOthers(
  database: JournalDatabase,
  conversation: string,
  worker: Worker | undefined,
): boolean {
  const own = toStoredText(worker?.id ?? '');
  const conversations = database.fromOthers(
    own,
    () =>
      new Set(
        database
          .prepared(OF_OTHERS)
          .all(own)
          .map((row) => new JournalRow(row).rawText('conversation')),
      ),
  );
  return conversations.has(conversation);
}
