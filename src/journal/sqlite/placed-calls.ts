import type { CallRecord, QueuedPage, RunningCount, RunningQuotas } from '../../contract/journal.js';
import { parseCallKey } from '../records/call-key.js';
import { countRunning, fairPage, isHeldBack, tenantOf } from '../records/fair-order.js';
import { admits } from '../records/placement.js';
import { toStoredText } from '../records/stored-text.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';
import { readPlacement } from './read-batches.js';
import { CALLS, toRecord } from './read-calls.js';

const QUEUED = `
  ${CALLS} JOIN batch_notes p ON p.batch = c.batch AND p.kind = 'placement'
  WHERE c.number IN (SELECT call FROM unfinished) AND k.call IS NULL AND (d.kind IS NULL OR d.kind = 'resume')`;
const BEHIND = ' AND c.number > (SELECT number FROM batches WHERE id = ?) + 1 + ?';

/** Queued calls with a placement that the offer can run, oldest first or in fair order. */
export function readQueued(database: JournalDatabase, page: QueuedPage): readonly CallRecord[] {
  const { limit, after, offer, order } = page;
  const isFair = order === 'fair';
  const parsed = after === undefined || isFair ? undefined : parseCallKey(after);
  const behind = parsed === undefined ? [] : [toStoredText(parsed.batchId), parsed.index];
  const found: CallRecord[] = [];
  const rows = database
    .prepared(`${QUEUED}${parsed === undefined ? '' : BEHIND} ORDER BY c.number`)
    .all(...behind);
  for (const row of rows) {
    if (!isFair && found.length >= limit) break;
    const record = toRecord(database, row);
    if (admits(record.placement, offer)) found.push(record);
  }
  return isFair ? fairPage(found, readRunning(database), page) : found;
}

const RUNNING = `
  SELECT c.batch, c.tool_name FROM unfinished u CROSS JOIN claims k ON k.call = u.call CROSS JOIN calls c ON c.number = u.call
  JOIN batch_notes p ON p.batch = c.batch AND p.kind = 'placement'`;

/** The running calls with a placement. */
export function readRunning(database: JournalDatabase): readonly RunningCount[] {
  const calls = database
    .prepared(RUNNING)
    .all()
    .map((values) => {
      const row = new JournalRow(values);
      return { placement: readPlacement(database, row.number('batch')), toolName: row.text('tool_name') };
    });
  return countRunning(calls);
}

/** Whether a quota holds a call back. @param offered the quotas of the worker */
export function isOverQuota(
  database: JournalDatabase,
  call: number,
  offered: RunningQuotas | undefined,
): boolean {
  const values = database.prepared('SELECT batch, tool_name FROM calls WHERE number = ?').get(call);
  if (values === undefined) return false;
  const row = new JournalRow(values);
  const placement = readPlacement(database, row.number('batch'));
  if (placement === undefined || (placement.quotas === undefined && offered === undefined)) return false;
  return isHeldBack({ placement, toolName: row.text('tool_name') }, readRunning(database), offered);
}

const OPEN = `
  SELECT c.batch, count(*) AS calls FROM unfinished u JOIN calls c ON c.number = u.call
  JOIN batch_notes p ON p.batch = c.batch AND p.kind = 'placement'
  WHERE c.disposition <> 'pre_resolved' GROUP BY c.batch`;

/** The number of open calls of a tenant. */
export function readOpen(database: JournalDatabase, tenant: string): number {
  return database
    .prepared(OPEN)
    .all()
    .map((values) => new JournalRow(values))
    .filter((row) => tenantOf(readPlacement(database, row.number('batch'))) === tenant)
    .reduce((sum, row) => sum + row.number('calls'), 0);
}
