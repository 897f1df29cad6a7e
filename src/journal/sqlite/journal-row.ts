import { toUSVString } from 'node:util';
import type { Worker } from '../../contract/journal.js';
import type { SqliteRow } from '../../platform/sqlite/sqlite.js';
import { journalUnavailable } from '../records/journal-errors.js';
import { sha256 } from '../records/stored-content.js';

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

const ESCAPED = 'json:';

/**
 * SQLite's texts end at a NUL and hold no lone surrogates, ids that a model makes up may hold both: such a text, and
 * one that could be mistaken for it, is stored as a JSON string.
 */
export function toStoredText(text: string): string {
  if (isStorable(text) && !text.startsWith(ESCAPED)) return text;
  return `${ESCAPED}${JSON.stringify(text)}`;
}

function fromStoredText(stored: string): string {
  return stored.startsWith(ESCAPED) ? String(JSON.parse(stored.slice(ESCAPED.length))) : stored;
}

/** A turn as its column holds it: JSON, so that one which is not known differs from none. */
export function toStoredTurn(turn: string | undefined): string {
  return JSON.stringify(turn ?? null);
}

function isStorable(text: string): boolean {
  // Where nothing is lone, it is the very same text, and nothing has to be compared.
  return toUSVString(text) === text && !text.includes('\0');
}

/** A process, of which a row holds `<name>_id` and so on; undefined where it holds none. */
export function readWorker(row: JournalRow, name: string): Worker | undefined {
  if (!row.has(`${name}_id`)) return undefined;
  return {
    id: row.text(`${name}_id`),
    pid: row.number(`${name}_pid`),
    startedAt: row.number(`${name}_process_started_at`),
    ...(row.has(`${name}_start_ticks`) ? { startTicks: row.number(`${name}_start_ticks`) } : {}),
    ...(row.has(`${name}_system`) ? { system: row.text(`${name}_system`) } : {}),
  };
}
