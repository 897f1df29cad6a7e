import type { Worker } from '../../contract/journal.js';
import type { SqliteRow, SqliteStatement, SqliteValue } from '../../platform/sqlite/sqlite.js';
import { journalUnavailable } from '../records/journal-errors.js';
import { sha256 } from '../records/stored-content.js';
import { fromStoredText } from '../records/stored-text.js';

/** Reads the columns of a row. A value that this program would not have written means a damaged journal. */
export class JournalRow {
  constructor(private readonly values: SqliteRow) {}

  has(column: string): boolean {
    return this.values[column] !== null && this.values[column] !== undefined;
  }

  number(column: string): number {
    const value = this.values[column];
    if (typeof value !== 'number') throw damaged(column);
    return value;
  }

  rawText(column: string): string {
    const value = this.values[column];
    if (typeof value !== 'string') throw damaged(column);
    return value;
  }

  text(column: string): string {
    return fromStoredText(this.rawText(column));
  }

  oneOf<T extends string>(column: string, allowed: readonly T[]): T {
    const value = this.rawText(column);
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw damaged(column);
    return found;
  }

  /** The text of a column, or else the text of the row's blob. */
  longText(column: string): string {
    if (this.has(column)) return this.rawText(column);
    const content = this.values.content;
    if (!(content instanceof Uint8Array) || sha256(content) !== this.rawText('blob')) throw damaged(column);
    return new TextDecoder().decode(content);
  }

  /** The only place where stored JSON gets its type back. */
  json<T>(text: string): T {
    try {
      return JSON.parse(text);
    } catch {
      throw damaged('JSON');
    }
  }
}

function damaged(what: string): Error {
  return journalUnavailable(
    'Cannot read the journal',
    `a row is damaged (${what})`,
    'Restore the file from a copy, or move it away and start a new one.',
  );
}

/** Reads a process from the columns `<name>_id` and so on; undefined if the row has none. */
export function readWorker(row: JournalRow, name: string): Worker | undefined {
  if (!row.has(`${name}_id`)) return undefined;
  return {
    id: row.text(`${name}_id`),
    pid: row.number(`${name}_pid`),
    startedAt: row.number(`${name}_process_started_at`),
    ...(row.has(`${name}_start_ticks`) ? { startTicks: row.number(`${name}_start_ticks`) } : {}),
    ...(row.has(`${name}_system`) ? { system: row.text(`${name}_system`) } : {}),
    ...(row.has(`${name}_epoch`) ? { epoch: row.number(`${name}_epoch`) } : {}),
  };
}

/**
 * The rows of a statement, page by page. The statement selects rows in ascending order of `number`, above its first
 * parameter, and limits the size of a page.
 */
export function* rowsAfter(
  number: number,
  statement: SqliteStatement,
  ...values: readonly SqliteValue[]
): Generator<JournalRow> {
  for (let last = number; ; ) {
    const page = statement.all(last, ...values);
    for (const found of page) {
      const row = new JournalRow(found);
      last = row.number('number');
      yield row;
    }
    if (page.length === 0) return;
  }
}
