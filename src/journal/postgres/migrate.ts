import { journalUnavailable } from '../records/journal-errors.js';
import type { Connection } from './connections.js';
import { STEPS } from './schema.js';

/** The newest version that this program knows. */
export const SCHEMA_VERSION = STEPS.length;

/**
 * Brings the schema of a database up to this version; a newer schema is left unchanged, because versions only add.
 * Processes that start at the same time wait for each other.
 *
 * @param quick the connection that checks whether a migration is needed
 * @param connection with the time that a step may take
 * @throws ToolError `journal_unavailable` if the database cannot hold a journal; otherwise the driver's error
 */
export async function migrate(quick: Connection, connection: Connection): Promise<void> {
  if ((await readVersion(quick)) >= SCHEMA_VERSION) return;
  await connection.query('BEGIN');
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtextextended('toolexec migrates {s}', 0))");
    await assertUtf8(connection);
    const version = await readVersion(connection);
    if (version === 0) await connection.query(VERSIONS);
    for (const [index, step] of STEPS.entries()) {
      if (index < version) continue;
      await connection.query(step);
      await connection.query('INSERT INTO {s}.versions (version) VALUES ($1)', [index + 1]);
    }
    await connection.query('COMMIT');
  } catch (error) {
    // If the connection is gone, so is the transaction.
    await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

// Reads the rows of the catalog. `to_regclass` may answer from a cache, with the state before the wait for
// the lock.
const HAS_VERSIONS = `
  SELECT EXISTS (
    SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = trim(both '"' from '{s}') AND c.relname = 'versions') AS found`;

/** The version of the schema; 0 if there is none. */
export async function readVersion(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ readonly found: boolean }>(HAS_VERSIONS);
  if (rows[0]?.found !== true) return 0;
  const versions = await connection.query<{ readonly version: number | null }>(
    'SELECT max(version) AS version FROM {s}.versions',
  );
  return versions.rows[0]?.version ?? 0;
}

const VERSIONS = `
  CREATE SCHEMA IF NOT EXISTS {s};
  CREATE TABLE IF NOT EXISTS {s}.versions (
    version integer PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now())`;

async function assertUtf8(connection: Connection): Promise<void> {
  const { rows } = await connection.query<{ readonly server_encoding: string }>('SHOW server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw journalUnavailable(
    'Cannot keep a journal in this database',
    `its encoding is ${String(encoding)}`,
    "Create a database with ENCODING 'UTF8'.",
  );
}
