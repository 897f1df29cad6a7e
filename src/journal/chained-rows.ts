import type { SqliteValue } from '../platform/sqlite.js';
import type { ChainedTable, JournalDatabase } from './journal-database.js';

/** The tables that the chain covers, with the column that names their rows. */
export const CHAINED_TABLES: Readonly<Record<ChainedTable, string>> = {
  workers: 'number',
  batches: 'number',
  calls: 'number',
  repeats: 'number',
  claims: 'call',
  results: 'call',
  notes: 'number',
  batch_notes: 'number',
  messages: 'number',
  prunes: 'number',
  facts: 'number',
};

/** Columns that a later version added: the chain covers them where they hold something. */
const ADDED_COLUMNS: ReadonlySet<string> = new Set(['batches.worker', 'calls.turn']);

export interface RowName {
  readonly table: ChainedTable;
  readonly number: number;
}

/** `calls:12`, as a commit names a row; undefined for what this version does not know. */
export function parseRowName(name: string): RowName | undefined {
  const [table, number] = name.split(':');
  const known = CHAINED.find((each) => each === table);
  return known === undefined ? undefined : { table: known, number: Number(number) };
}

/** What a row holds now, as the chain covers it; undefined where it is gone. */
export function readChainedRow(
  database: JournalDatabase,
  { table, number }: RowName,
): readonly SqliteValue[] | undefined {
  const row = database.prepared(`SELECT * FROM ${table} WHERE ${CHAINED_TABLES[table]} = ?`).get(number);
  if (row === undefined) return undefined;
  const covered = Object.entries(row).filter(
    ([column, value]) => value !== null || !ADDED_COLUMNS.has(`${table}.${column}`),
  );
  return covered.map(([, value]) => toSqliteValue(value));
}

const CHAINED: readonly ChainedTable[] = [
  'workers',
  'batches',
  'calls',
  'repeats',
  'claims',
  'results',
  'notes',
  'batch_notes',
  'messages',
  'prunes',
  'facts',
];

/** A driver gives nothing else; what it might is text. */
function toSqliteValue(value: unknown): SqliteValue {
  if (value === null || typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Uint8Array ? value : String(value);
}
