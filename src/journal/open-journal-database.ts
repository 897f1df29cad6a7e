import { ensureJournalFile, syncDirectoryOf } from '../platform/journal-file.js';
import { openSqlite, type SqliteDatabase } from '../platform/sqlite.js';
import { JournalDatabase } from './journal-database.js';
import { IN_MEMORY } from './journal-place.js';
import { journalUnavailable } from './journal-unavailable.js';
import { APPLICATION_ID, MIGRATIONS } from './migrations.js';

/** How long SQLite itself waits for another writer. Short, because it blocks everything: the rest waits outside. */
const BLOCKING_WAIT_MS = 2;

/**
 * Opens a journal's file, makes it where there is none, and brings it to this version's schema. A file that is not a
 * journal, or a newer one, is left as it is.
 *
 * @param waitMs what SQLite itself waits for others, for whoever does not try again.
 * @throws ToolError `journal_unavailable` for such a file; else the driver's or the operating system's error.
 */
export function openJournalDatabase(path: string, waitMs = BLOCKING_WAIT_MS): JournalDatabase {
  if (path !== IN_MEMORY) ensureJournalFile(path);
  const sqlite = openSqlite(path);
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${waitMs}`);
    checkIdentity(sqlite, path);
    sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    migrate(sqlite, path, MIGRATIONS);
    if (path !== IN_MEMORY) syncDirectoryOf(path);
    return new JournalDatabase(sqlite);
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** Runs the steps that the file has not seen, all or none. */
export function migrate(sqlite: SqliteDatabase, path: string, steps: readonly string[]): void {
  if (numberOf(sqlite, 'PRAGMA user_version') === steps.length) return;
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    // Asked again: another process may have been here first.
    const version = checkIdentity(sqlite, path, steps.length);
    for (const step of steps.slice(version)) sqlite.exec(step);
    sqlite.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${steps.length}; COMMIT`);
  } catch (error) {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    throw error;
  }
}

/** The file's version; 0 for one that is empty. */
function checkIdentity(sqlite: SqliteDatabase, path: string, newest = MIGRATIONS.length): number {
  const application = numberOf(sqlite, 'PRAGMA application_id');
  const version = numberOf(sqlite, 'PRAGMA user_version');
  if (application === APPLICATION_ID && version <= newest) return version;
  const objects = numberOf(sqlite, 'SELECT count(*) FROM sqlite_schema');
  if (application === 0 && version === 0 && objects === 0) return 0;
  const action = `Cannot open the journal "${path}"`;
  if (application === APPLICATION_ID) {
    throw journalUnavailable(
      action,
      `it was written by a newer version (schema ${version}, this one knows ${newest})`,
      'Update toolexec, or choose another file.',
      { details: { path, schema: version, known: newest } },
    );
  }
  throw journalUnavailable(action, 'it is a database of another program', 'Choose another file.', {
    details: { path },
  });
}

function numberOf(sqlite: SqliteDatabase, sql: string): number {
  return Number(Object.values(sqlite.prepare(sql).get() ?? {})[0]);
}
