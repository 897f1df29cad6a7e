import type { SqliteStatement } from '../platform/sqlite.js';

/** Where the rows of a journal end: what the next transaction goes on from. */
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

/** Another process has written since this one went by what it remembers: nothing is wrong, it is to be done again. */
export class EndsHaveMoved extends Error {
  constructor() {
    super('another process has written meanwhile');
  }
}
