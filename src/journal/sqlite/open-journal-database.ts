import { resolve } from 'node:path';
import { targetOf } from '../../platform/fs/fs-entry.js';
import {
  assertCanOpen,
  ensureJournalFile,
  isWritableFile,
  NotARegularFile,
} from '../../platform/fs/journal-file.js';
import { makeScratchDirectory } from '../../platform/fs/scratch.js';
import { syncDirectoryOf } from '../../platform/fs/sync-directory.js';
import {
  assertOutOfReach,
  REACH_REMEDY,
  reachOfOthers,
  WithinReach,
} from '../../platform/runtime/own-place.js';
import {
  attachSqlite,
  type SqliteAccess,
  type SqliteDatabase,
  type SqliteFailure,
  sqliteFailure,
} from '../../platform/sqlite/sqlite.js';
import { journalUnavailable } from '../records/journal-errors.js';
import { findLoss, JournalAnchor, type JournalLoss, JournalWatch, readAnchor } from './journal-anchor.js';
import { JournalDatabase } from './journal-database.js';
import { APPLICATION_ID, MIGRATIONS } from './migrations.js';

/** The path that stands for a journal without a file: it ends with the process. */
export const IN_MEMORY = ':memory:';

/** How long SQLite itself waits for another writer. Short, because it blocks everything: the rest waits outside. */
const BLOCKING_WAIT_MS = 2;
/** Others may have the file for themselves for a moment. */
const READER_WAIT_MS = 2000;
/** SQLite's own limit for a path, with what it appends to it; bytes. */
const MOST_PATH_BYTES = 500;

interface OpeningOptions {
  /** What SQLite itself waits for others; for those who do not try again. */
  readonly waitMs?: number;
  /** Called where commits may be lost; what it throws is thrown. */
  readonly onLoss?: (loss: JournalLoss) => void;
}

/**
 * Opens a journal's file, makes it where there is none, and brings it to this version's schema. A file that is not a
 * journal, or a newer one, is left as it is.
 *
 * @throws ToolError `journal_unavailable` for such a file; else the driver's or the operating system's error.
 */
export function openJournalDatabase(path: string, options: OpeningOptions = {}): JournalDatabase {
  const { waitMs = BLOCKING_WAIT_MS, onLoss } = options;
  if (path !== IN_MEMORY) prepareFile(path);
  const sqlite = attach(path, 'write', waitMs);
  let anchor: JournalAnchor | undefined;
  try {
    prepare(sqlite, path);
    if (path === IN_MEMORY) return new JournalDatabase(sqlite);
    anchor = new JournalAnchor(path);
    // The anchor first: the journal can only have gone on since.
    const known = anchor.read();
    const database = new JournalDatabase(sqlite, { watch: new JournalWatch(path, anchor) });
    const loss = findLoss(database, known);
    if (loss !== undefined) {
      onLoss?.(loss);
      anchor.remember(loss.known);
    }
    if (loss !== undefined || known.head === undefined) anchor.move(database.head());
    syncDirectoryOf(path);
    return database;
  } catch (error) {
    anchor?.close();
    closeQuietly(sqlite);
    throw explained(error);
  }
}

/**
 * Opens a journal's file to look at it: where it can be written as the one above; else, on media that are read-only or in
 * reach of other users, as it is, or a copy of it where only that can be read. A head beside it that is newer is reported and left there.
 *
 * @throws as `openJournalDatabase` does
 */
export function openJournalReader(path: string, onLoss?: (loss: JournalLoss) => void): JournalDatabase {
  const options = { waitMs: READER_WAIT_MS, ...(onLoss === undefined ? {} : { onLoss }) };
  if (
    path === IN_MEMORY ||
    targetOf(path) === undefined ||
    (isWritableFile(path) && reachOfOthers(path) === undefined)
  )
    return openJournalDatabase(path, options);
  const known = readAnchor(path);
  const { database } = openJournalLook(path);
  const loss = findLoss(database, known);
  if (loss !== undefined) onLoss?.(loss);
  return database;
}

/** A journal that is only looked at. */
export interface JournalLook {
  readonly database: JournalDatabase;
  /** Whether it sees what other processes commit from now on, and never half of it. */
  readonly isLive: boolean;
}

/**
 * Opens a journal's file and writes nothing to it or beside it, for those who look often. Tried in turn: beside a process that
 * writes it; as a file that nothing writes; a copy, brought to this version.
 *
 * @throws as `openJournalDatabase` does
 */
export function openJournalLook(path: string): JournalLook {
  const hasLog = (targetOf(`${path}-wal`)?.size ?? 0) > 0;
  const live = openCurrent(path, 'read');
  const sqlite = live ?? (hasLog ? undefined : openCurrent(path, 'frozen'));
  if (sqlite !== undefined) return { database: new JournalDatabase(sqlite), isLive: live !== undefined };
  const scratch = makeScratchDirectory('toolexec-journal-');
  try {
    const copy = scratch.copy(path, 'journal.db');
    if (hasLog) scratch.copy(`${path}-wal`, 'journal.db-wal');
    const copied = attach(copy, 'write', READER_WAIT_MS);
    prepare(copied, path);
    return { database: new JournalDatabase(copied, { onClosed: () => scratch.remove() }), isLive: false };
  } catch (error) {
    scratch.remove();
    throw explained(error);
  }
}

/** Undefined where it cannot be opened so, or an older version has written it. */
function openCurrent(path: string, access: SqliteAccess): SqliteDatabase | undefined {
  let sqlite: SqliteDatabase | undefined;
  try {
    sqlite = attach(path, access, READER_WAIT_MS);
    if (checkIdentity(sqlite, path) === MIGRATIONS.length) return sqlite;
    closeQuietly(sqlite);
  } catch (error) {
    if (sqlite !== undefined) closeQuietly(sqlite);
    if (!REFUSALS.includes(sqliteFailure(error))) throw error;
  }
  return undefined;
}

const REFUSALS: readonly SqliteFailure[] = ['environment', 'read-only'];

function prepareFile(path: string): void {
  try {
    ensureJournalFile(path);
    assertOutOfReach(path);
  } catch (error) {
    const remedy = remedyFor(error);
    if (!(error instanceof Error) || remedy === undefined) throw error;
    throw journalUnavailable(`Cannot use the journal "${path}"`, error.message, remedy, {
      details: { path },
      cause: error,
    });
  }
}

function remedyFor(error: unknown): string | undefined {
  if (error instanceof NotARegularFile) return 'Name a file.';
  if (error instanceof WithinReach) return REACH_REMEDY;
  return undefined;
}

function attach(path: string, access: SqliteAccess, waitMs: number): SqliteDatabase {
  const file = path === IN_MEMORY ? path : resolve(path);
  if (Buffer.byteLength(file) > MOST_PATH_BYTES) {
    throw Object.assign(new Error(`more than ${MOST_PATH_BYTES} bytes`), { code: 'ENAMETOOLONG' });
  }
  try {
    return attachSqlite('journal', file, { access, waitMs });
  } catch (error) {
    throw explained(error);
  }
}

/** SQLite says no more than that it could not be opened: whether nothing can be opened is found out. */
function explained(error: unknown): unknown {
  if (sqliteFailure(error) !== 'environment') return error;
  try {
    assertCanOpen();
    return error;
  } catch (reason) {
    return reason;
  }
}

function prepare(sqlite: SqliteDatabase, path: string): void {
  checkIdentity(sqlite, path);
  sqlite.exec(
    'PRAGMA journal.journal_mode = WAL; PRAGMA journal.synchronous = FULL; PRAGMA foreign_keys = ON',
  );
  migrate(sqlite, path, MIGRATIONS);
}

function closeQuietly(sqlite: SqliteDatabase): void {
  try {
    sqlite.close();
  } catch {
    // The error that led here is the one to tell.
  }
}

/** Runs the steps that the file has not seen, all or none. */
export function migrate(sqlite: SqliteDatabase, path: string, steps: readonly string[]): void {
  if (numberOf(sqlite, 'PRAGMA journal.user_version') === steps.length) return;
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    // Asked again: another process may have been here first.
    const version = checkIdentity(sqlite, path, steps.length);
    for (const step of steps.slice(version)) sqlite.exec(inSchema(step));
    sqlite.exec(
      `PRAGMA journal.application_id = ${APPLICATION_ID}; PRAGMA journal.user_version = ${steps.length}; COMMIT`,
    );
  } catch (error) {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    throw error;
  }
}

/** What is made goes into the file; what is there already is found without its schema. */
function inSchema(step: string): string {
  return step.replaceAll(/\bCREATE (TABLE|INDEX|TRIGGER) /g, 'CREATE $1 journal.');
}

/**
 * The file's version; 0 for one that is empty.
 * @throws ToolError `journal_unavailable` for a newer one, and for a database of another program
 */
export function checkIdentity(sqlite: SqliteDatabase, path: string, newest = MIGRATIONS.length): number {
  // In this order: another process that makes the journal meanwhile commits all three at once, the last is asked last.
  const objects = numberOf(sqlite, 'SELECT count(*) FROM journal.sqlite_schema');
  const version = numberOf(sqlite, 'PRAGMA journal.user_version');
  const application = numberOf(sqlite, 'PRAGMA journal.application_id');
  if (application === APPLICATION_ID && version <= newest) return version;
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
