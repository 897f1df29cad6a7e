import type { GuardedPath } from '../../contract/files.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { makeOwnDirectory } from '../../platform/process/transaction-directory.js';
import { whenProcessEnds } from '../../platform/runtime/environment.js';
import type { CommittedFile } from '../sandbox/git/committed-versions.js';
import { MasksLayer } from './masks-layer.js';
import type { OverlaySetup } from './overlay-setup.js';

/** A layer of masks in use by commands. */
export interface HeldMasks {
  readonly path: string;
  readonly release: () => void;
}

interface KeptLayer {
  readonly layer: MasksLayer;
  users: number;
}

/** By root and place. A layer in use must not change: then a new one is created. */
const kept = new Map<string, KeptLayer>();
const places = new Map<string, string>();
let count = 0;

/** The layer that hides files in a root, created once and kept up to date. */
export function holdMasks(
  { place, whiteout }: OverlaySetup,
  root: string,
  hidden: readonly GuardedPath[],
  files: readonly CommittedFile[],
): HeldMasks {
  const key = keyOf(place, root);
  let found = kept.get(key);
  if (found === undefined || (found.users > 0 && !found.layer.fits(hidden, files))) {
    const path = `${placeOf(place)}/${++count}`;
    found = { layer: new MasksLayer(root, path, () => whiteout), users: 0 };
    kept.set(key, found);
  }
  const held = found;
  if (!held.layer.isFor(hidden, files)) {
    try {
      held.layer.update(hidden, files);
    } catch (error) {
      // An incomplete layer is not reused.
      kept.delete(key);
      removeTree(held.layer.directory);
      throw error;
    }
  }
  held.users++;
  return {
    path: held.layer.path,
    release() {
      held.users--;
      if (held.users === 0 && kept.get(key) !== held) removeTree(held.layer.directory);
    },
  };
}

/** Whether the layer at a path fits such commands. */
export function areMasksFor(
  { place }: OverlaySetup,
  root: string,
  path: string,
  hidden: readonly GuardedPath[],
  files: readonly CommittedFile[],
): boolean {
  const layer = kept.get(keyOf(place, root))?.layer;
  return layer?.path === path && layer.fits(hidden, files);
}

function keyOf(place: string, root: string): string {
  return `${place}\0${root}`;
}

function removeLayers(): void {
  for (const path of places.values()) removeTree(path);
}

function placeOf(place: string): string {
  const known = places.get(place);
  if (known !== undefined) return known;
  const path = makeOwnDirectory(place, 'masks', []);
  if (places.size === 0) whenProcessEnds(removeLayers);
  places.set(place, path);
  return path;
}
