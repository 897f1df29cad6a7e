import type { ChainedTable } from './journal-database.js';

/** What a commit calls a row's table. Before schema 7 it was the table's name and a colon. */
const LETTERS: Readonly<Record<ChainedTable, string>> = {
  workers: 'w',
  batches: 'b',
  calls: 'c',
  repeats: 'a',
  claims: 's',
  results: 'r',
  notes: 'n',
  batch_notes: 'd',
  messages: 'm',
  prunes: 'p',
  facts: 'f',
};

/** A row as a commit names it: `c12`. */
export function rowName(table: ChainedTable, number: number): string {
  return LETTERS[table] + number;
}

export interface RowName {
  /** Undefined: none that this version knows. */
  readonly table: ChainedTable | undefined;
  readonly number: number;
}

/** `c12`, as a commit names a row, or `calls:12`, as it did once. */
export function parseRowName(name: string): RowName {
  const colon = name.indexOf(':');
  const length = colon < 0 ? 1 : colon + 1;
  return { table: TABLES.get(name.slice(0, length)), number: Number(name.slice(length)) };
}

const TABLES: ReadonlyMap<string, ChainedTable> = new Map(
  (Object.keys(LETTERS) as ChainedTable[]).flatMap((table) => [
    [LETTERS[table], table],
    [`${table}:`, table],
  ]),
);
