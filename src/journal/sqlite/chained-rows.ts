import type { ChainedTable } from './chain.js';
import { parseRowName, rowContent } from './chain.js';
import type { JournalDatabase } from './journal-database.js';

/** The tables that the chain covers, with the column that identifies their rows. */
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

/**
 * How many columns later versions added at the end. The chain covers such a column only if it is not null.
 */
const ADDED_COLUMNS: Readonly<Partial<Record<ChainedTable, number>>> = { batches: 1, calls: 1 };

/** How many rows are read ahead at most. */
const MOST_AHEAD = 256;

/**
 * Reads rows in roughly the order in which the chain names them: ascending within each table, so that the
 * following rows are read together with the first. Valid only while the file does not change.
 */
export class ChainedRowReader {
  readonly #tables: Readonly<Record<ChainedTable, TableReader>>;

  constructor(database: JournalDatabase) {
    const reader = (table: ChainedTable) => new TableReader(database, table);
    this.#tables = {
      workers: reader('workers'),
      batches: reader('batches'),
      calls: reader('calls'),
      repeats: reader('repeats'),
      claims: reader('claims'),
      results: reader('results'),
      notes: reader('notes'),
      batch_notes: reader('batch_notes'),
      messages: reader('messages'),
      prunes: reader('prunes'),
      facts: reader('facts'),
    };
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
    return table === undefined ? undefined : this.#tables[table].read(number);
  }
}

class TableReader {
  readonly #database: JournalDatabase;
  readonly #table: ChainedTable;
  /** Consecutive rows, each with its number first. */
  #rows: unknown[][] = [];
  #from = 0;
  #to = -1;
  /** The index of the last row found. The next one usually follows it. */
  #at = -1;
  #size = 1;

  constructor(database: JournalDatabase, table: ChainedTable) {
    this.#database = database;
    this.#table = table;
  }

  read(number: number): readonly unknown[] | undefined {
    if (number < this.#from || number > this.#to) this.#readBlock(number);
    const at = this.#rows[this.#at + 1]?.[0] === number ? this.#at + 1 : this.#search(number);
    const row = this.#rows[at];
    if (row === undefined) return undefined;
    this.#at = at;
    return row;
  }

  #readBlock(from: number): void {
    const isNext = from > this.#to && from <= this.#to + MOST_AHEAD;
    this.#size = isNext ? Math.min(this.#size * 2, MOST_AHEAD) : 1;
    const column = CHAINED_TABLES[this.#table];
    const sql = `SELECT * FROM ${this.#table} WHERE ${column} >= ? ORDER BY ${column} LIMIT ${this.#size}`;
    this.#rows = this.#database.prepared(sql).lists(from);
    this.#from = from;
    // A row that is not among those up to the last one read is not in the table either.
    this.#to = Math.max(from, Number(this.#rows.at(-1)?.[0] ?? from));
    this.#at = -1;
    const added = ADDED_COLUMNS[this.#table] ?? 0;
    if (added > 0) for (const row of this.#rows) leaveOutEmpty(row, row.length - added);
  }

  #search(number: number): number {
    let low = 0;
    let high = this.#rows.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = Number(this.#rows[middle]?.[0]);
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

function leaveOutEmpty(row: unknown[], first: number): void {
  for (let place = row.length - 1; place >= first; place--) {
    if (row[place] === null) row.splice(place, 1);
  }
}
