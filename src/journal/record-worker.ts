import type { Worker } from '../contract/journal.js';
import type { JournalDatabase } from './journal-database.js';
import { toStoredText } from './stored-text.js';

const FIND = 'SELECT number FROM workers WHERE id = ?';
const ADD = `
  INSERT INTO workers (id, pid, process_started_at, start_ticks, system) VALUES (?, ?, ?, ?, ?) RETURNING number`;

/** The number of a process, which is written down the first time that it does something. */
export function findWorker(database: JournalDatabase, worker: Worker): number {
  const known = database.numberOfWorker(worker.id);
  if (known !== undefined) return known;
  const id = toStoredText(worker.id);
  const number = numberOf(database.prepared(FIND).get(id)) ?? addWorker(database, id, worker);
  database.willHoldWorker(worker.id, number);
  return number;
}

function addWorker(database: JournalDatabase, id: string, worker: Worker): number {
  const { pid, startedAt, startTicks = null, system } = worker;
  const values = [id, pid, startedAt, startTicks, system === undefined ? null : toStoredText(system)];
  const number = Number(numberOf(database.prepared(ADD).get(...values)));
  database.chain('workers', number, [number, ...values]);
  return number;
}

function numberOf(row: { readonly number?: unknown } | undefined): number | undefined {
  return typeof row?.number === 'number' ? row.number : undefined;
}
