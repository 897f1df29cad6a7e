import { Client } from 'pg';
import { addressOf } from './address.js';
import type { Connection } from './connections.js';
import { readVersion, SCHEMA_VERSION } from './migrate.js';
import { postgresFailure } from './postgres-errors.js';

/** The state of the journal in a database. */
export interface PostgresState {
  /** The address, without user and password. */
  readonly place: string;
  /** The server's version: `15.14`. */
  readonly server: string;
  /** The version of the tables; 0 if there are none. */
  readonly schema: number;
  /** The version that this program creates. */
  readonly known: number;
  /** The delay of the slowest standby, in milliseconds. Absent if this user sees none. */
  readonly standbyLagMs?: number;
}

interface ExamineOptions {
  readonly schema?: string;
  readonly timeoutMs?: number;
}

const STATE = `
  SELECT current_setting('server_version') AS server, (
    SELECT extract(epoch FROM max(replay_lag)) * 1000 FROM pg_catalog.pg_stat_replication
  )::double precision AS lag`;

/**
 * Examines the journal in a database without changing anything.
 * @throws ToolError `journal_unavailable` if it cannot be reached, `config_invalid` for an address of another
 * kind
 */
export async function examinePostgres(url: string, options: ExamineOptions = {}): Promise<PostgresState> {
  const { schema = 'toolexec', timeoutMs = 3_000 } = options;
  const place = addressOf(url);
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // The next query reports a connection that breaks between two queries.
  client.on('error', () => {});
  try {
    await client.connect();
    const connection: Connection = {
      query: (text, values = []) => client.query(text.replaceAll('{s}', `"${schema}"`), [...values]),
    };
    const version = await readVersion(connection);
    const { rows } = await client.query<{ readonly server: string; readonly lag: number | null }>(STATE);
    const [row] = rows;
    return {
      place,
      server: row?.server.split(' ')[0] ?? 'unknown',
      schema: version,
      known: SCHEMA_VERSION,
      ...(typeof row?.lag === 'number' ? { standbyLagMs: row.lag } : {}),
    };
  } catch (error) {
    throw postgresFailure(place, error);
  } finally {
    client.end().catch(() => {});
  }
}
