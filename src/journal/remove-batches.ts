import type { SqliteRow } from '../platform/sqlite.js';
import { PRUNABLE_FACTS } from './conversation-facts.js';
import type { ChainedTable, JournalDatabase } from './journal-database.js';
import type { PrunableBatch } from './prunable-batches.js';
import { CONTENT_MARK, contentHashes } from './stored-content.js';

export interface RemovedRows {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** As commits name them: `calls:12`. */
  readonly names: ReadonlySet<string>;
  /** Hashes that the rows held. */
  readonly blobs: ReadonlySet<string>;
}

/** Which rows belong to batches that follow each other: from the number of the first to that of the last delivery. */
const OF_RUN: readonly { readonly table: ChainedTable; readonly column: string; readonly by: string }[] = [
  { table: 'notes', column: 'number', by: 'call' },
  { table: 'results', column: 'call', by: 'call' },
  { table: 'claims', column: 'call', by: 'call' },
  { table: 'repeats', column: 'number', by: 'number' },
  { table: 'batch_notes', column: 'number', by: 'batch' },
  { table: 'calls', column: 'number', by: 'number' },
  { table: 'batches', column: 'number', by: 'number' },
];

const WITH_BLOBS: ReadonlySet<ChainedTable> = new Set(['notes', 'results', 'batch_notes', 'messages']);

const MESSAGES = `
  sent_at < ? AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.conversation = messages.conversation)`;

/**
 * Takes batches out with all that belongs to them, the messages before a time of conversations that have no batch left,
 * and facts from before it that are no longer needed. Foreign keys must be off: what they would look for is known, and they would look at every row.
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
    const result = table === 'results' ? 'result' : 'NULL AS result';
    const removed = database
      .prepared(`DELETE FROM ${table} WHERE ${where} RETURNING ${column} AS number, ${blob}, ${result}`)
      .all(...values);
    for (const row of removed) {
      names.add(`${table}:${String(row.number)}`);
      if (typeof row.blob === 'string') blobs.add(row.blob);
      if (table === 'results') for (const hash of contentOf(database, row)) blobs.add(hash);
    }
    return removed.length;
  };
  let calls = 0;
  for (const [first, last] of toRuns(batches)) {
    for (const { table, column, by } of OF_RUN) {
      const count = remove(table, column, `${by} >= ? AND ${by} <= ?`, [first, last]);
      if (table === 'calls') calls += count;
    }
    database.prepared('DELETE FROM decided WHERE batch >= ? AND batch <= ?').run(first, last);
  }
  const messages = remove('messages', 'number', MESSAGES, [before]);
  remove('facts', 'number', PRUNABLE_FACTS, [before]);
  return { batches: batches.length, calls, messages, names, blobs };
}

/** The hashes of the bytes that a result names. Its own text, where that is a blob, goes only later. */
function contentOf(database: JournalDatabase, { result, blob }: SqliteRow): readonly string[] {
  if (typeof result === 'string') return contentHashes(result);
  if (typeof blob !== 'string') return [];
  const content = database
    .prepared('SELECT content FROM blobs WHERE hash = ?1 AND instr(content, CAST(?2 AS BLOB)) > 0')
    .get(blob, CONTENT_MARK)?.content;
  return content instanceof Uint8Array ? contentHashes(new TextDecoder().decode(content)) : [];
}

/** Batches and deliveries are numbered together, so that neighbours go at once. */
function toRuns(batches: readonly PrunableBatch[]): readonly (readonly [first: number, last: number])[] {
  const runs: [number, number][] = [];
  for (const { number, size } of batches) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number + size;
    else runs.push([number, number + size]);
  }
  return runs;
}
