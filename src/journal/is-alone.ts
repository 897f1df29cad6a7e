import type { SqliteRow } from '../platform/sqlite.js';
import type { JournalDatabase } from './journal-database.js';

/**
 * Whether no other connection, of whatever process, has the file open. Each holds a lock on it for as long as it lives,
 * which the system takes away with its process, also one that cannot be seen from here; and only who has the file for
 * himself can leave WAL mode. To be called outside of a transaction.
 */
export function isAlone(database: JournalDatabase): boolean {
  // Outside of that mode nobody holds a lock all the time, and nothing could be told.
  if (changeMode(database, 'WAL') !== 'wal' || changeMode(database, 'DELETE') !== 'delete') return false;
  database.logRenewed();
  // Who opens it at this very moment is in the way, and does the same.
  changeMode(database, 'WAL');
  // The lock is there again with the first look, if nobody else has been faster.
  return ask(database, 'SELECT 1 FROM journal.sqlite_schema LIMIT 1') !== undefined;
}

/** The mode that it is in then. */
function changeMode(database: JournalDatabase, mode: 'DELETE' | 'WAL'): unknown {
  return ask(database, `PRAGMA journal.journal_mode = ${mode}`)?.journal_mode;
}

/** Undefined where others are in the way, or anything else: nothing is known then. */
function ask(database: JournalDatabase, sql: string): SqliteRow | undefined {
  try {
    return database.prepared(sql).get();
  } catch {
    return undefined;
  }
}
