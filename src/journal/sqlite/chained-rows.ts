import type { ChainedTable } from './chain.js';
import { parseRowName, rowContent } from './chain.js';
import type { JournalDatabase } from './journal-database.js';

/** The tables that the chain covers, with the column that names their rows: the first of each. */
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

/** How many columns a later version added at the end: the chain covers them where they hold something. */
const ADDED_COLUMNS: Readonly<Partial<Record<ChainedTable, number>>> = { batches: 1, calls: 1 };

/** At most so many rows are read ahead. */
const MOST_AHEAD = 256;

/**
 * Reads rows much as the chain names them: upwards in each table, so that the next ones are read with the first. Only
 * while nothing changes in the file.
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

  /** What the chain covers of rows such as `c12`, as they are now. A row that is gone holds nothing. */
  content(names: readonly string[]): string {
    let content = '';
    for (const name of names) {
      const values = this.values(name);
      if (values !== undefined) content += rowContent(values);
    }
    return content;
  }

  /** What the chain covers of one row; undefined where it is gone, and for a table that this version does not know. */
  values(name: string): readonly unknown[] | undefined {
    const { table, number } = parseRowName(name);
    return table === undefined ? undefined : this.#tables[table].read(number);
  }
}

class TableReader {
  readonly #database: JournalDatabase;
  readonly #table: ChainedTable;
  /** Neighbours, each with its number first. */
  #rows: unknown[][] = [];
  #from = 0;
  #to = -1;
  /** Where the last row was found: the next one lies behind it, as a rule. */
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
    // What is not in it up to its last row is not in the table either.
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
