import { randomUUID } from 'node:crypto';
import type { ToolResult } from '../../contract/call.js';
import type { ObjectStore } from '../../contract/object-store.js';
import { journalUnavailable } from '../records/journal-errors.js';
import { sha256 } from '../records/stored-content.js';
import type { Work } from './connections.js';
import { messageOf } from './large-contents.js';
import { MOST_IN_DATABASE, type StoredResult, toStoredResult } from './long-results.js';
import { BYTES, type OrderedOperations } from './ordered-operations.js';

/** The maximum size of a content in the database, if there is an object store. */
export const MOST_BESIDE_OBJECTS = 1024 * 1024;
/** The maximum size of a content in an object store. */
export const MOST_IN_OBJECTS = 256 * 1024 * 1024;
/** The time limit for all attempts of an object store. */
const OBJECT_MS = 120_000;

/** Writes contents before the records that name them: large ones to the object store, the others to the database. */
export class ContentWriter {
  readonly #operations: OrderedOperations;
  readonly #objects: ObjectStore | undefined;

  constructor(operations: OrderedOperations, objects: ObjectStore | undefined) {
    this.#operations = operations;
    this.#objects = objects;
  }

  keep(bytes: Uint8Array): Promise<string> {
    if (this.#objects === undefined || bytes.length <= MOST_BESIDE_OBJECTS) {
      return this.#operations.ask('keep bytes', BYTES, 'write', (tenant) => keepBytes(tenant, bytes));
    }
    // A copy, because the caller may change the bytes.
    return this.#keepObject(bytes.slice(), this.#objects);
  }

  /** Starts to write the large contents of a result. The next operation of the journal starts when they are written. */
  write(result: ToolResult): WrittenResult {
    const objects = this.#objects;
    const { text, contents } = toStoredResult(
      result,
      objects === undefined ? MOST_IN_DATABASE : MOST_IN_OBJECTS,
    );
    const inDatabase = new Map(contents);
    const written: WrittenResult & { failure?: Error } = { text, contents: inDatabase, error: result.error };
    for (const [hash, bytes] of contents) {
      if (objects === undefined || bytes.length <= MOST_BESIDE_OBJECTS) continue;
      inDatabase.delete(hash);
      this.#keepObject(bytes, objects).catch((error: Error) => {
        written.failure = error;
      });
    }
    return written;
  }

  #keepObject(bytes: Uint8Array, objects: ObjectStore): Promise<string> {
    // Separately, not in the transaction of other writes: the row is committed before the object is written.
    const toWork = (tenant: string): Work<string> => keepObject(tenant, bytes, objects);
    return this.#operations.ask('keep a large content', BYTES, 'read', toWork, OBJECT_MS);
  }
}

/** A result whose large contents are in the object store or being written there. */
export interface WrittenResult extends StoredResult {
  readonly error: ToolResult['error'];
  /** The reason why a content is missing. Known before the result is recorded. */
  readonly failure?: Error;
}

function keepBytes(tenant: string, bytes: Uint8Array): Work<string> {
  const hash = sha256(bytes);
  // A copy, because the caller may change the bytes.
  const content = Buffer.from(bytes);
  return async ({ query }) => {
    await query('SELECT {s}.keep_1($1, $2::text[], $3::bytea[])', [tenant, [hash], [content]]);
    return hash;
  };
}

const REFER = `
  INSERT INTO {s}.blobs AS x (tenant, hash, content, object_key, object_bytes, kept_at)
  VALUES ($1, $2, '', $3, $4::bigint, clock_timestamp())
  ON CONFLICT (tenant, hash) DO UPDATE SET kept_again_at = clock_timestamp()
  RETURNING x.object_key`;
const INTO_DATABASE = `
  WITH old AS (
    INSERT INTO {s}.dead_objects (tenant, key) SELECT x.tenant, x.object_key FROM {s}.blobs x
    WHERE x.tenant = $1 AND x.hash = $2 AND x.object_key IS NOT NULL ON CONFLICT DO NOTHING)
  UPDATE {s}.blobs SET content = $3, object_key = NULL, object_bytes = NULL WHERE tenant = $1 AND hash = $2`;

/**
 * Keeps a large content in the object store. If the store fails, the content goes to the database if it is small
 * enough.
 * @throws ToolError `journal_unavailable`
 */
function keepObject(tenant: string, bytes: Uint8Array, objects: ObjectStore): Work<string> {
  const hash = sha256(bytes);
  return async ({ query }) => {
    const key = `toolexec/${randomUUID()}`;
    const { rows } = await query<{ readonly object_key: string | null }>(REFER, [
      tenant,
      hash,
      key,
      bytes.length,
    ]);
    const referred = rows[0]?.object_key;
    // The content is in the database.
    if (referred === null || referred === undefined) return hash;
    try {
      await objects.put(referred, bytes);
    } catch (error) {
      if (bytes.length > MOST_IN_DATABASE) throw notStored(objects, bytes.length, error);
      await query(INTO_DATABASE, [tenant, hash, Buffer.from(bytes)]);
    }
    return hash;
  };
}

function notStored({ name }: ObjectStore, bytes: number, error: unknown): Error {
  return journalUnavailable(
    `Cannot keep a content of ${bytes} bytes`,
    `the object store ${name} failed (${messageOf(error)})`,
    'Correct fleet.objects, or start the store.',
    { cause: error },
  );
}
