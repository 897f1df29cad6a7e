import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { ToolError } from '../../errors/tool-error.js';
import { installedDirectory, requireInstalled } from '../runtime/installed-package.js';

export type SqliteValue = null | number | bigint | string | Uint8Array;
export type SqliteRow = Readonly<Record<string, unknown>>;

export interface SqliteStatement {
  /** The number of rows changed. */
  run(...values: SqliteValue[]): number;
  get(...values: SqliteValue[]): SqliteRow | undefined;
  all(...values: SqliteValue[]): readonly SqliteRow[];
  /**
   * The same rows, each as an array of its values in the order of the columns: for callers that read very
   * many.
   */
  lists(...values: SqliteValue[]): unknown[][];
}

/**
 * The part of SQLite's interface that toolexec uses. Every operation is synchronous; `sqliteFailure`
 * classifies the errors.
 */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  /** Whether a transaction is open. */
  readonly inTransaction: boolean;
  close(): void;
}

/**
 * Opens a file, or `:memory:`. The driver is loaded with the first database, so that a program that opens
 * none pays nothing: `node:sqlite` if its SQLite is 3.51.3 or newer (older versions can lose a commit of a
 * WAL file with two connections), otherwise `@photostructure/sqlite`, which has the same interface.
 */
export function openSqlite(path: string): SqliteDatabase {
  DatabaseSync ??= loadDriver();
  const database = new DatabaseSync(path);
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => toStatement(database, sql),
    get inTransaction() {
      return database.isTransaction;
    },
    close: () => database.close(),
  };
}

/**
 * How a file is opened. `read`: nothing is written; in WAL mode that needs the files which a writing process
 * has put beside the database. `frozen`: no other process can write the file, and files beside it are
 * ignored.
 */
export type SqliteAccess = 'write' | 'read' | 'frozen';

export interface AttachOptions {
  /** Default `write`. */
  readonly access?: SqliteAccess;
  /** How long SQLite itself waits for other connections, in every operation, in milliseconds; default 0. */
  readonly waitMs?: number;
}

/**
 * Opens a file, or `:memory:`, as the schema `name` of a connection that holds nothing else. Closing it
 * closes every descriptor at once. In one of the drivers, a file that is opened directly stays open until its
 * statements are garbage-collected.
 */
export function attachSqlite(name: string, path: string, options: AttachOptions = {}): SqliteDatabase {
  const { access = 'write', waitMs = 0 } = options;
  const database = openSqlite(':memory:');
  const place = access === 'write' ? path : `${pathToFileURL(path).href}?${URI_PARAMETERS[access]}`;
  try {
    // The schema is read at once, and that may have to wait for other connections.
    database.exec(`PRAGMA busy_timeout = ${waitMs}`);
    database.exec(`ATTACH '${place.replaceAll("'", "''")}' AS ${name}`);
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => database.prepare(sql),
    get inTransaction() {
      return database.inTransaction;
    },
    close() {
      try {
        database.exec(`DETACH ${name}`);
      } finally {
        database.close();
      }
    },
  };
}

const URI_PARAMETERS = { read: 'mode=ro', frozen: 'immutable=1' } as const;

type Driver = new (path: string) => DatabaseSyncInstance;

let DatabaseSync: Driver | undefined;

function loadDriver(): Driver {
  const name = isSafeSqlite(process.versions.sqlite) ? 'node:sqlite' : PACKAGE;
  try {
    const loaded = withoutWarnings(
      () => (name === PACKAGE ? loadPrebuilt() : undefined) ?? requireInstalled(name),
    );
    return (loaded as { readonly DatabaseSync: Driver }).DatabaseSync;
  } catch (cause) {
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new ToolError('journal_unavailable', `Cannot load SQLite from ${name}: ${why}.`, {
      cause,
      hint: `Install ${name} with its dependencies where the program can find it, or run on a Node whose own SQLite is 3.51.3 or newer.`,
    });
  }
}

const PACKAGE = '@photostructure/sqlite';

/**
 * Loads the binary that fits most machines, without the package's own search, which takes ten times as long
 * as loading. Undefined if the package might choose another binary.
 */
function loadPrebuilt(): unknown {
  const directory = installedDirectory(PACKAGE);
  // A binary that was compiled on this machine comes first.
  if (directory === undefined || existsSync(join(directory, 'build'))) return undefined;
  const { platform, arch } = process;
  try {
    return requireInstalled(
      join(directory, `prebuilds/${platform}-${arch}/@photostructure+sqlite.glibc.node`),
    );
  } catch {
    return undefined;
  }
}

/**
 * Node 22 prints a warning that its SQLite is experimental, on the standard error of the program that loads
 * it.
 */
function withoutWarnings<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Whether a version of SQLite, such as `3.51.3`, is free of the bug that can lose commits. */
export function isSafeSqlite(version: string | undefined): boolean {
  const [major = 0, minor = 0, patch = 0] = (version ?? '').split('.').map(Number);
  if (major !== 3) return major > 3;
  return minor > 51 || (minor === 51 && patch >= 3);
}

function toStatement(database: DatabaseSyncInstance, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  return {
    run: (...values) => Number(statement.run(...values).changes),
    get: (...values) => statement.get(...values),
    all: (...values) => statement.all(...values),
    lists(...values) {
      statement.setReturnArrays(true);
      try {
        return statement.all(...values);
      } finally {
        statement.setReturnArrays(false);
      }
    },
  };
}

/** The kind of a database failure. */
export type SqliteFailure =
  /** Another connection is writing: try again. */
  | 'busy'
  /** The values of this statement are wrong: other statements can continue. */
  | 'statement'
  /** The file is not a database, is damaged, or lacks the expected tables. */
  | 'damaged'
  /** The disk is full. */
  | 'full'
  | 'read-only'
  /** The disk, the access rights of the file, or memory. */
  | 'environment';

/**
 * Classifies an error thrown by a database operation. An error that does not come from SQLite is about the
 * values that were passed.
 */
export function sqliteFailure(error: unknown): SqliteFailure {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return 'statement';
  const code = 'errcode' in error ? error.errcode : undefined;
  if (code === NO_SPACE_FOR_SHARED_MEMORY) return 'full';
  if (typeof code === 'number') return BY_PRIMARY_CODE[code & 0xff] ?? 'environment';
  // @photostructure/sqlite omits the code in some places; the texts are SQLite's own and do not change.
  return BY_MESSAGE.find(([text]) => error.message.includes(text))?.[1] ?? 'environment';
}

/** SQLITE_IOERR_SHMSIZE: the file beside the journal cannot grow. */
const NO_SPACE_FOR_SHARED_MEMORY = 4874;

const BY_PRIMARY_CODE: Readonly<Record<number, SqliteFailure>> = {
  // All statements are correct: if they name something missing, the file lacks it.
  1: 'damaged',
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  11: 'damaged',
  13: 'full',
  18: 'statement',
  19: 'statement',
  20: 'statement',
  25: 'statement',
  26: 'damaged',
};

const BY_MESSAGE: readonly (readonly [string, SqliteFailure])[] = [
  ['is locked', 'busy'],
  ['readonly database', 'read-only'],
  ['malformed', 'damaged'],
  ['not a database', 'damaged'],
  ['no such', 'damaged'],
  ['disk is full', 'full'],
  ['too big', 'statement'],
  ['constraint', 'statement'],
  ['datatype mismatch', 'statement'],
];

const HEADER = 'SQLite format 3\0';

/** Whether a regular file begins like a SQLite database. Pipes are not read. */
export function isSqliteFile(path: string): boolean {
  let descriptor: number | undefined;
  try {
    if (!statSync(path).isFile()) return false;
    descriptor = openSync(path, 'r');
    const head = new Uint8Array(HEADER.length);
    readSync(descriptor, head);
    return Buffer.from(head).toString('latin1') === HEADER;
  } catch {
    // The next reader reports why it cannot be read.
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
