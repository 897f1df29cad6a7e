import { Pool } from 'pg';
import { isFilledText, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { Journal } from '../../contract/journal.js';
import type { ObjectStore } from '../../contract/object-store.js';
import { ToolError } from '../../errors/tool-error.js';
import { toStoredText } from '../records/stored-text.js';
import { addressOf } from './address.js';
import { PostgresJournal } from './postgres-journal.js';

export interface PostgresJournalOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Default, if you pass a pool: the server of the pool. */
  readonly url?: string;
  /** The tenant of the records: tenants of one database do not see each other's. Default `default`. */
  readonly tenant?: string;
  /** The schema of the tables, which is created if needed. Default `toolexec`. */
  readonly schema?: string;
  /** The maximum number of connections, or your own pool of `pg`, which you end yourself. Default 10. */
  readonly pool?: number | Pool;
  /**
   * The maximum time of an operation, including waits for the server, before it fails with
   * `journal_unavailable`; in milliseconds. Default 5,000.
   */
  readonly busyTimeoutMs?: number;
  /**
   * Where contents of more than 1 MB are stored, such as `await s3Objects({ … })`. All processes that share the journal
   * need the same store. Default: in the database, at most 16 MB.
   */
  readonly objects?: ObjectStore;
}

type Given = Required<Omit<PostgresJournalOptions, 'url' | 'objects'>> & {
  readonly url: string | undefined;
  readonly objects: ObjectStore | undefined;
};

const OPTIONS: OptionRules<Given> = {
  url: option<string | undefined>(undefined, isFilledText, 'an address'),
  tenant: option('default', isFilledText, 'a text that is not empty'),
  schema: option(
    'toolexec',
    (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value),
    'a name of a-z, 0-9 and _, at most 63 characters',
  ),
  pool: option<number | Pool>(
    10,
    (value) => (Number.isSafeInteger(value) && Number(value) >= 1) || value instanceof Pool,
    'a whole number from 1, or a Pool of pg',
  ),
  busyTimeoutMs: option(
    5000,
    (value) => Number.isFinite(value) && Number(value) >= 1,
    'a number of milliseconds, 1 or more',
  ),
  objects: option<ObjectStore | undefined>(undefined, isObjectStore, 'an object store'),
};

function isObjectStore(value: unknown): boolean {
  const { put, get, delete: remove } = (value ?? {}) as Partial<ObjectStore>;
  return [put, get, remove].every((method) => typeof method === 'function');
}

/**
 * A journal in Postgres, for processes of one or many machines. It connects with its first operation, and creates or
 * updates its schema then.
 *
 * @throws ToolError `config_invalid` for a wrong option
 */
export function postgresJournal(options: PostgresJournalOptions): Journal {
  const { url, tenant, schema, pool, busyTimeoutMs, objects } = normalizeOptions(
    'postgresJournal',
    options,
    OPTIONS,
  );
  if (url === undefined && typeof pool === 'number') {
    throw new ToolError(
      'config_invalid',
      'postgresJournal needs `url`, such as "postgres://user@host/database", or a `pool`.',
    );
  }
  const name = url === undefined ? 'Postgres' : addressOf(url);
  return new PostgresJournal({
    pool: typeof pool === 'number' ? createPool(url, pool, busyTimeoutMs) : pool,
    ownsPool: typeof pool === 'number',
    tenant: toStoredText(tenant),
    schema: `"${schema}"`,
    patienceMs: busyTimeoutMs,
    name,
    ...(objects === undefined ? {} : { objects }),
  });
}

function createPool(url: string | undefined, max: number, patienceMs: number): Pool {
  const pool = new Pool({
    ...(url === undefined ? {} : { connectionString: url }),
    max,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    keepAlive: true,
    // A transaction is sent as a whole: one round trip.
    pipeline: true,
    // An open journal does not keep its process alive.
    allowExitOnIdle: true,
    application_name: 'toolexec',
  });
  // A connection that breaks while idle leaves the pool; the next operation opens another.
  pool.on('error', () => {});
  return pool;
}
