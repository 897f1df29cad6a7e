import { CHAINED_TABLES, type ChainedTable, parseRowName, rowContent } from './chain.js';
import type { JournalDatabase } from './journal-database.js';

/**
 * How many columns later versions added at the end. The chain covers such a column only if it is not null.
 */
const ADDED_COLUMNS: Readonly<Partial<Record<ChainedTable, number>>> = { batches: 1, calls: 1 };

const ROWS_AT_ONCE = 256;
/** Calls that run side by side end in another order than they began, so later rows are kept for a while. */
const MOST_KEPT = 8 * ROWS_AT_ONCE;

/**
 * Reads rows in roughly the order in which the chain names them: ascending within each table, so the rows after a row
 * are read together with it. Valid only while the file does not change.
 */
export class ChainedRowReader {
  readonly #database: JournalDatabase;
  /** By table, the rows that were read and not asked for yet. */
  readonly #kept = new Map<ChainedTable, Map<number, readonly unknown[]>>();

  constructor(database: JournalDatabase) {
    this.#database = database;
  }

  /**
   * The contents of rows such as `c12` as the chain covers them, as they are now. A missing row has no
   * content.
   */
  content(names: readonly string[]): string {
    let content = '';
    for (const name of names) {
      const values = this.values(name);
      if (values !== undefined) content += rowContent(values);
    }
    return content;
  }

  /**
   * The covered values of one row; undefined if the row is missing, or its table is not known to this
   * version.
   */
  values(name: string): readonly unknown[] | undefined {
    const { table, number } = parseRowName(name);
    if (table === undefined) return undefined;
    let kept = this.#kept.get(table);
    if (kept?.has(number) !== true) {
      if (kept === undefined || kept.size > MOST_KEPT) kept = new Map();
      this.#kept.set(table, kept);
      for (const row of this.#readFrom(table, number)) kept.set(Number(row[0]), row);
    }
    const row = kept.get(number);
    kept.delete(number);
    return row;
  }

  #readFrom(table: ChainedTable, number: number): readonly unknown[][] {
    const { column } = CHAINED_TABLES[table];
    const sql = `SELECT * FROM ${table} WHERE ${column} >= ? ORDER BY ${column} LIMIT ${ROWS_AT_ONCE}`;
    const rows = this.#database.prepared(sql).lists(number);
    const added = ADDED_COLUMNS[table] ?? 0;
    if (added > 0) for (const row of rows) leaveOutEmpty(row, row.length - added);
    return rows;
  }
}

function leaveOutEmpty(row: unknown[], first: number): void {
  for (let place = row.length - 1; place >= first; place--) {
    if (row[place] === null) row.splice(place, 1);
  }
}
