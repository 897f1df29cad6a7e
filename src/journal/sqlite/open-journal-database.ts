import { resolve } from 'node:path';
import { isToolError } from '../../errors/tool-error.js';
import { sleepSync, systemClock } from '../../platform/clock/clock.js';
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

/** The path of a journal without a file, which ends with the process. */
export const IN_MEMORY = ':memory:';

/**
 * How long SQLite itself waits for another writer. Short, because it blocks the thread; further waiting is
 * asynchronous.
 */
const BLOCKING_WAIT_MS = 2;
/** Another process may have exclusive access for a moment. */
const READER_WAIT_MS = 2000;
const BUSY_PAUSE_MS = 5;
/** SQLite's limit for a path with its suffixes, in bytes. */
const MOST_PATH_BYTES = 500;

interface OpeningOptions {
  /** How long SQLite itself waits, for callers that do not retry. */
  readonly waitMs?: number;
  /** Called if commits may be lost; its error is passed on. */
  readonly onLoss?: (loss: JournalLoss) => void;
}

/**
 * Opens a journal's file, creates a missing one, and migrates it to the current schema. A file that is not a
 * journal, or newer, is not changed.
 *
 * @throws ToolError `journal_unavailable` for such a file; otherwise the driver's or the operating system's
 * error.
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
    // The anchor is read first: the journal can only have advanced since.
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
 * Opens a journal's file for reading: like the function above if it can be written. Otherwise (read-only media, full
 * disks, files of other users) it opens the file itself, or a copy if only a copy can be read. A newer head next to it
 * is reported and kept. An empty file stays empty.
 *
 * @throws as `openJournalDatabase` does
 */
export function openJournalReader(path: string, onLoss?: (loss: JournalLoss) => void): JournalDatabase {
  const options = { waitMs: READER_WAIT_MS, ...(onLoss === undefined ? {} : { onLoss }) };
  if (path === IN_MEMORY || targetOf(path) === undefined) return openWaiting(path, options);
  if (!isEmptyJournal(path) && isWritableFile(path) && reachOfOthers(path) === undefined) {
    try {
      return openWaiting(path, options);
    } catch (error) {
      if (!isUnwritable(error)) throw error;
    }
  }
  const known = readAnchor(path);
  const { database } = openJournalLook(path);
  const loss = findLoss(database, known);
  if (loss !== undefined) onLoss?.(loss);
  return database;
}

/** Whether a file exists in which nothing was ever recorded, such as one that `touch` or `mktemp` has made. */
export function isEmptyJournal(path: string): boolean {
  const file = targetOf(path);
  // A pipe has the size 0 too, and opening it waits for a writer.
  return file?.isFile() === true && file.size === 0 && (targetOf(`${path}-wal`)?.size ?? 0) === 0;
}

/**
 * SQLite itself does not always wait: at some moments, when others open and close the file, it refuses at once.
 */
function openWaiting(path: string, options: OpeningOptions): JournalDatabase {
  const end = systemClock.monotonic() + READER_WAIT_MS;
  for (;;) {
    try {
      return openJournalDatabase(path, options);
    } catch (error) {
      if (sqliteFailure(error) !== 'busy' || systemClock.monotonic() >= end) throw error;
      sleepSync(BUSY_PAUSE_MS);
    }
  }
}

/** On a full disk, even the files that SQLite needs next to the journal cannot be created. */
function isUnwritable(error: unknown): boolean {
  if (isToolError(error) || !(error instanceof Error && 'code' in error)) return false;
  return (
    ['ENOSPC', 'EDQUOT', 'EROFS'].includes(String(error.code)) || REFUSALS.includes(sqliteFailure(error))
  );
}

/** A journal opened only for reading. */
export interface JournalLook {
  readonly database: JournalDatabase;
  /** Whether it sees later commits of other processes, each one complete. */
  readonly isLive: boolean;
}

/**
 * Opens a journal's file without writing to it or next to it, for frequent looks. It tries in turn: next to a
 * process that writes; as a file without a writer; as a copy, migrated to this version.
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

/** Undefined if it cannot be opened in this way, or an older version wrote it. */
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

const REFUSALS: readonly SqliteFailure[] = ['environment', 'read-only', 'full'];

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

/** SQLite only says that it could not open the file: this finds the reason. */
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
    // The earlier error is the one to report.
  }
}

/** Runs the missing migration steps, all or none. */
export function migrate(sqlite: SqliteDatabase, path: string, steps: readonly string[]): void {
  if (numberOf(sqlite, 'PRAGMA journal.user_version') === steps.length) return;
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    // Checked again: another process may have been first.
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

/** New tables go into the file's schema; existing ones are found without a schema name. */
function inSchema(step: string): string {
  return step.replaceAll(/\bCREATE (TABLE|INDEX|TRIGGER) /g, 'CREATE $1 journal.');
}

/**
 * The file's version; 0 for an empty one.
 * @throws ToolError `journal_unavailable` for a newer one, and for a database of another program
 */
export function checkIdentity(sqlite: SqliteDatabase, path: string, newest = MIGRATIONS.length): number {
  // In this order: a process that creates the journal commits all three at once, so the last one is read
  // last.
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
