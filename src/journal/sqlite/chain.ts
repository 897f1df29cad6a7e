import type { SqliteStatement } from '../../platform/sqlite/sqlite.js';
import { sha256 } from '../records/stored-content.js';

/**
 * The tables whose rows the hash chain of commits covers: the letter that stands for a table in a commit, and the
 * column that identifies its rows.
 */
export const CHAINED_TABLES = {
  workers: { letter: 'w', column: 'number' },
  batches: { letter: 'b', column: 'number' },
  calls: { letter: 'c', column: 'number' },
  repeats: { letter: 'a', column: 'number' },
  claims: { letter: 's', column: 'call' },
  results: { letter: 'r', column: 'call' },
  notes: { letter: 'n', column: 'number' },
  batch_notes: { letter: 'd', column: 'number' },
  messages: { letter: 'm', column: 'number' },
  prunes: { letter: 'p', column: 'number' },
  facts: { letter: 'f', column: 'number' },
} as const;

export type ChainedTable = keyof typeof CHAINED_TABLES;

/**
 * The hash of one commit: over the previous hash, the names of the rows it added, and their contents.
 * Hexadecimal SHA-256.
 */
export function linkHash(previous: string, added: string, content: string): string {
  return sha256(`${previous}\n${added}\n${content}`);
}

/**
 * The content of a row as the chain covers it. No stored text contains a NUL, and no nullable text is ever
 * empty, so this together with the table's name distinguishes all rows.
 */
export function rowContent(values: readonly unknown[]): string {
  return `${values.join('\0')}\0`;
}

/** The name of a row in a commit: `c12`. */
export function rowName(table: ChainedTable, number: number): string {
  return CHAINED_TABLES[table].letter + number;
}

/** The end of the journal, from which the next transaction continues. */
export interface Ends {
  /** The last commit; 0 before the first. */
  readonly commit: number;
  /** Its hash; empty before the first. */
  readonly head: string;
  /** The number of the next batch. */
  readonly next: number;
}

const ENDS = `
  SELECT number AS commit_number, hash,
    (SELECT number + size + 1 FROM batches ORDER BY number DESC LIMIT 1) AS next
  FROM (SELECT 1) LEFT JOIN (SELECT number, hash FROM commits ORDER BY number DESC LIMIT 1)`;

export function readEnds(prepare: (sql: string) => SqliteStatement): Ends {
  const { commit_number: commit, hash, next } = prepare(ENDS).get() ?? {};
  return {
    commit: typeof commit === 'number' ? commit : 0,
    head: typeof hash === 'string' ? hash : '',
    next: typeof next === 'number' ? next : 1,
  };
}

/**
 * Another process has written since this one last read the end of the journal. Nothing is wrong; the
 * transaction has to be repeated.
 */
export class EndsHaveMoved extends Error {
  constructor() {
    super('another process has written meanwhile');
  }
}
