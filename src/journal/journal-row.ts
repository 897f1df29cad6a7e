import type { SqliteRow } from '../platform/sqlite.js';
import { journalUnavailable } from './journal-unavailable.js';
import { sha256 } from './link-hash.js';
import { fromStoredText } from './stored-text.js';

/** Takes a row apart; a value that this house would not have written is a damaged journal. */
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

  /** The text of a column, or where there is none that of the row's blob. */
  longText(column: string): string {
    if (this.has(column)) return this.rawText(column);
    const content = this.values.content;
    if (!(content instanceof Uint8Array) || sha256(content) !== this.rawText('blob')) throw damaged(column);
    return new TextDecoder().decode(content);
  }

  /** The one place where what this house wrote gets its type back. */
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
