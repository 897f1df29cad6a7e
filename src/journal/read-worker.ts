import type { Worker } from '../contract/journal.js';
import type { JournalRow } from './journal-row.js';

/** A process, of which a row holds `<name>_id` and so on; undefined where it holds none. */
export function readWorker(row: JournalRow, name: string): Worker | undefined {
  if (!row.has(`${name}_id`)) return undefined;
  return {
    id: row.text(`${name}_id`),
    pid: row.number(`${name}_pid`),
    startedAt: row.number(`${name}_process_started_at`),
    ...(row.has(`${name}_start_ticks`) ? { startTicks: row.number(`${name}_start_ticks`) } : {}),
    ...(row.has(`${name}_system`) ? { system: row.text(`${name}_system`) } : {}),
  };
}
