import { CHAINED_TABLES, type ChainedTable, rowContent } from './chain.js';
import type { JournalDatabase } from './journal-database.js';

/**
 * How many columns later versions added at the end. The chain covers such a column only if it is not null.
 */
const ADDED_COLUMNS: Readonly<Partial<Record<ChainedTable, number>>> = { batches: 1, calls: 1 };

/**
 * The contents of rows such as `c12` as the chain covers them, as they are now. A missing row has no content.
 */
export function chainedContent(database: JournalDatabase, names: readonly string[]): string {
  let content = '';
  for (const name of names) {
    const values = chainedValues(database, name);
    if (values !== undefined) content += rowContent(values);
  }
  return content;
}

/** The covered values of one row; undefined if the row is missing, or its table is not known to this version. */
export function chainedValues(database: JournalDatabase, name: string): readonly unknown[] | undefined {
  const { table, number } = parseRowName(name);
  if (table === undefined) return undefined;
  const { column } = CHAINED_TABLES[table];
  const [row] = database.prepared(`SELECT * FROM ${table} WHERE ${column} = ?`).lists(number);
  const first = (row?.length ?? 0) - (ADDED_COLUMNS[table] ?? 0);
  return row?.filter((value, place) => place < first || value !== null);
}

interface RowName {
  /** Undefined if this version does not know the table. */
  readonly table: ChainedTable | undefined;
  readonly number: number;
}

/** Parses `c12`, or `calls:12`, as it was before schema 7. */
export function parseRowName(name: string): RowName {
  const colon = name.indexOf(':');
  const length = colon < 0 ? 1 : colon + 1;
  return { table: TABLES.get(name.slice(0, length)), number: Number(name.slice(length)) };
}

const TABLES: ReadonlyMap<string, ChainedTable> = new Map(
  (Object.keys(CHAINED_TABLES) as ChainedTable[]).flatMap((table) => [
    [CHAINED_TABLES[table].letter, table],
    [`${table}:`, table],
  ]),
);
