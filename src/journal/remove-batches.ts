import type { ChainedTable, JournalDatabase } from './journal-database.js';
import type { PrunableBatch } from './prunable-batches.js';

export interface RemovedRows {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** As commits name them: `calls:12`. */
  readonly names: ReadonlySet<string>;
  /** Hashes that the rows held. */
  readonly blobs: ReadonlySet<string>;
}

/** Which rows belong to a batch: the first number is the batch's, the second that of its last delivery. */
const OF_BATCH: readonly { readonly table: ChainedTable; readonly column: string; readonly where: string }[] =
  [
    { table: 'notes', column: 'number', where: 'call > ?1 AND call <= ?2' },
    { table: 'results', column: 'call', where: 'call > ?1 AND call <= ?2' },
    { table: 'claims', column: 'call', where: 'call > ?1 AND call <= ?2' },
    { table: 'repeats', column: 'number', where: 'number > ?1 AND number <= ?2' },
    { table: 'batch_notes', column: 'number', where: 'batch = ?1 AND ?2 > 0' },
    { table: 'calls', column: 'number', where: 'number > ?1 AND number <= ?2' },
    { table: 'batches', column: 'number', where: 'number = ?1 AND ?2 > 0' },
  ];

const WITH_BLOBS: ReadonlySet<ChainedTable> = new Set(['notes', 'results', 'batch_notes', 'messages']);

const MESSAGES = `
  sent_at < ? AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.conversation = messages.conversation)`;

/**
 * Takes batches out with all that belongs to them, and the messages before a time of conversations that have no batch
 * left. Foreign keys must be off: what they would look for is known, and they would look at every row.
 */
export function removeBatches(
  database: JournalDatabase,
  batches: readonly PrunableBatch[],
  before: number,
): RemovedRows {
  const names = new Set<string>();
  const blobs = new Set<string>();
  const remove = (table: ChainedTable, column: string, where: string, values: readonly number[]): number => {
    const blob = WITH_BLOBS.has(table) ? 'blob' : 'NULL AS blob';
    const removed = database
      .prepared(`DELETE FROM ${table} WHERE ${where} RETURNING ${column} AS number, ${blob}`)
      .all(...values);
    for (const row of removed) {
      names.add(`${table}:${String(row.number)}`);
      if (typeof row.blob === 'string') blobs.add(row.blob);
    }
    return removed.length;
  };
  let calls = 0;
  for (const { number, size } of batches) {
    for (const { table, column, where } of OF_BATCH) {
      const count = remove(table, column, where, [number, number + size]);
      if (table === 'calls') calls += count;
    }
    database.prepared('DELETE FROM decided WHERE batch = ?').run(number);
  }
  const messages = remove('messages', 'number', MESSAGES, [before]);
  return { batches: batches.length, calls, messages, names, blobs };
}
