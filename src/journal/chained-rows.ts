import type { SqliteRow, SqliteValue } from '../platform/sqlite.js';
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
  return row === undefined ? undefined : toCovered(table, row);
}

/** At most so many rows are read ahead. */
const MOST_AHEAD = 256;

/**
 * Reads rows much as the chain names them: upwards in each table, so that the next ones are read with the first. Only
 * while nothing changes in the file.
 */
export class ChainedRowReader {
  readonly #database: JournalDatabase;
  readonly #blocks = new Map<ChainedTable, Block>();

  constructor(database: JournalDatabase) {
    this.#database = database;
  }

  /** What a row holds now, as the chain covers it; undefined where it is gone. */
  read({ table, number }: RowName): readonly SqliteValue[] | undefined {
    let block = this.#blocks.get(table);
    if (block === undefined || number < block.from || number > block.to) {
      const isNext = block !== undefined && number > block.to && number <= block.to + MOST_AHEAD;
      block = this.#readBlock(table, number, isNext ? Math.min(block?.size ?? 1, MOST_AHEAD / 2) * 2 : 1);
      this.#blocks.set(table, block);
    }
    const row = block.rows.get(number);
    return row === undefined ? undefined : toCovered(table, row);
  }

  #readBlock(table: ChainedTable, from: number, size: number): Block {
    const column = CHAINED_TABLES[table];
    const sql = `SELECT * FROM ${table} WHERE ${column} >= ? ORDER BY ${column} LIMIT ${size}`;
    const rows = new Map<number, SqliteRow>();
    for (const row of this.#database.prepared(sql).all(from)) rows.set(Number(row[column]), row);
    // What is not in it up to its last row is not in the table either.
    return { from, to: Math.max(from, ...rows.keys()), size, rows };
  }
}

interface Block {
  readonly from: number;
  readonly to: number;
  readonly size: number;
  readonly rows: ReadonlyMap<number, SqliteRow>;
}

function toCovered(table: ChainedTable, row: SqliteRow): readonly SqliteValue[] {
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
