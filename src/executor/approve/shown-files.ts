import { createHash } from 'node:crypto';
import type { ShownFile } from '../../contract/approval.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { FileSettings } from '../call/settings.js';
import { placeEffects } from '../plan/place-effects.js';

/** The number of bytes read at a time. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Besides its arguments, a request is bound to this snapshot: the files that the call would change, as they
 * were when the request was shown.
 */
export interface Snapshot {
  /** Regular files. A file that does not exist is left out. */
  readonly shown: readonly ShownFile[];
  /** The paths of the declared effects, with links followed. */
  readonly places: readonly string[];
}

/**
 * Takes a snapshot of the files that a call would change. A file that cannot be read is left out, because it
 * is not shown either.
 */
export async function takeSnapshot(ready: ReadyCall, settings: FileSettings): Promise<Snapshot> {
  const { effects, violation } = placeEffects(ready.declared, settings);
  // If the sandbox now refuses the paths, the snapshot has none. It then differs from the shown one, and
  // planning reports the reason.
  const places = violation === undefined ? placesOf(effects) : [];
  const changed = effects.flatMap(({ effect: { kind }, at }) =>
    at !== undefined && (kind === 'write' || kind === 'delete') ? [at] : [],
  );
  const shown: ShownFile[] = [];
  for (const path of new Set(changed)) {
    const hash = await hashOf(path, settings);
    if (hash !== undefined) shown.push({ path, hash });
  }
  return { shown, places };
}

/**
 * The paths that differ between two snapshots: the content is different, or only one snapshot has the path.
 */
export function changedPaths(before: Snapshot, now: Snapshot): readonly string[] {
  const changed = new Set<string>();
  const was = new Map(before.shown.map(({ path, hash }) => [path, hash]));
  const is = new Map(now.shown.map(({ path, hash }) => [path, hash]));
  for (const path of [...was.keys(), ...is.keys()]) if (was.get(path) !== is.get(path)) changed.add(path);
  for (const path of now.places) if (!before.places.includes(path)) changed.add(path);
  for (const path of before.places) if (!now.places.includes(path)) changed.add(path);
  return [...changed];
}

function placesOf(effects: readonly PlacedEffect[]): readonly string[] {
  return [...new Set(effects.flatMap(({ at }) => (at === undefined ? [] : [at])))];
}

async function hashOf(path: string, settings: FileSettings): Promise<string | undefined> {
  const { files } = settings.sandbox.byCanonicalPath();
  try {
    const { type, size } = await files.stat(path);
    if (type !== 'file') return undefined;
    const hash = createHash('sha256');
    for (let offset = 0; offset < size || offset === 0; offset += CHUNK_BYTES) {
      const bytes = await files.read(path, { offset, length: CHUNK_BYTES });
      hash.update(bytes);
      if (bytes.length < CHUNK_BYTES) break;
    }
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}
