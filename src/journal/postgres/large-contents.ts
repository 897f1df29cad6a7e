import type { ObjectStore } from '../../contract/object-store.js';
import { journalUnavailable } from '../records/journal-errors.js';
import { sha256 } from '../records/stored-content.js';
import type { Connection, Work } from './connections.js';

const CONTENTS = `
  SELECT hash, content, object_key FROM {s}.blobs WHERE tenant = $1 AND hash = ANY($2::text[])`;

/**
 * Contents by their hashes. A content that does not match its hash counts as lost, and so does a missing object.
 * @throws ToolError `journal_unavailable` if the object store cannot be asked
 */
export async function readContents(
  connection: Connection,
  tenant: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  if (hashes.length === 0) return found;
  const { rows } = await connection.query<{
    readonly hash: string;
    readonly content: Uint8Array;
    readonly object_key: string | null;
  }>(CONTENTS, [tenant, hashes]);
  for (const { hash, content, object_key } of rows) {
    const bytes = object_key === null ? content : await readObject(connection.objects, object_key);
    if (bytes !== undefined && sha256(bytes) === hash) found.set(hash, new Uint8Array(bytes));
  }
  return found;
}

async function readObject(objects: ObjectStore | undefined, key: string): Promise<Uint8Array | undefined> {
  if (objects === undefined) {
    throw journalUnavailable(
      'Cannot read a large content',
      'it is in an object store',
      'Configure it: [fleet.objects], or `objects` of postgresJournal.',
    );
  }
  try {
    return await objects.get(key);
  } catch (error) {
    throw journalUnavailable(
      'Cannot read a large content',
      `the object store failed (${messageOf(error)})`,
      'Try again when it is back.',
      { cause: error },
    );
  }
}

const DEAD = 'SELECT key FROM {s}.dead_objects WHERE tenant = $1 ORDER BY key LIMIT 100';

/** Removes objects of contents that were removed. @returns how many; 0: there are no more */
export function removeDeadObjects(tenant: string): Work<number> {
  return async ({ query, objects }) => {
    if (objects === undefined) return 0;
    const { rows } = await query<{ readonly key: string }>(DEAD, [tenant]);
    for (const { key } of rows) {
      try {
        await objects.delete(key);
      } catch (error) {
        throw journalUnavailable(
          'Cannot remove objects of contents that are gone',
          `the object store failed (${messageOf(error)})`,
          'Prune again when it is back.',
          { cause: error },
        );
      }
    }
    const removed = rows.map(({ key }) => key);
    await query('DELETE FROM {s}.dead_objects WHERE tenant = $1 AND key = ANY($2::text[])', [
      tenant,
      removed,
    ]);
    return rows.length;
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
