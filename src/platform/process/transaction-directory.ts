import { randomBytes } from 'node:crypto';
import {
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { makeDirectories } from '../fs/make-directories.js';
import { isOutOfReach } from '../fs/out-of-reach.js';
import { removeTree, removeTreeLater } from '../fs/remove-tree.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

/**
 * A directory of this user alone, for directories that other users must not read. Returns its real path;
 * undefined if it cannot be made, belongs to another user, or lies in a directory in which others could
 * replace it.
 */
export function privateDirectory(path: string): string | undefined {
  try {
    makeDirectories(path);
    const real = realpathSync.native(path);
    const found = lstatSync(real);
    const { uid, mode } = found;
    const isOurs = found.isDirectory() && uid === process.geteuid?.() && (mode & 0o077) === 0;
    return isOurs && isOutOfReach(real) ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a new directory whose name says which process made it. */
export function makeOwnDirectory(parent: string, kind: string, inside: readonly string[]): string {
  const path = join(parent, `${kind}-${ownTag()}-${randomBytes(8).toString('hex')}`);
  mkdirSync(path, { mode: 0o700 });
  for (const name of inside) makeDirectories(join(path, name));
  return path;
}

/** The directories of a kind, each with whether the process that made it is alive. */
export function ownDirectories(
  parent: string,
  kind: string,
): readonly { readonly path: string; readonly maker: ReturnType<typeof fateOf> }[] {
  let entries: Dirent[] = [];
  try {
    entries = readdirSync(parent, { withFileTypes: true });
  } catch {
    // There is no such directory yet.
  }
  return entries.flatMap((entry) => {
    const path = join(parent, entry.name);
    const maker = makerOf(path, kind);
    return maker === undefined ? [] : [{ path, maker }];
  });
}

/** Whether the process that made a directory is alive. Undefined: it is not of this kind. */
export function makerOf(path: string, kind: string): ReturnType<typeof fateOf> | undefined {
  const name = new RegExp(`^${kind}-([0-9a-f]{${TAG_DIGITS}})-[0-9a-f]{16}$`);
  const tag = name.exec(basename(path))?.[1];
  return tag === undefined ? undefined : fateOf(tag);
}

/** The paths of the directories in `parent` whose names match. */
export function directoriesOf(parent: string, name: RegExp): readonly string[] {
  return readdirSync(parent, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && name.test(entry.name) ? [join(parent, entry.name)] : [],
  );
}

/** Undefined if there is no such file. */
export function readWhole(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export function writeWhole(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}

/** Milliseconds since the epoch; undefined if nothing is there. */
export function modifiedMs(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Removes the name at once, and the contents in the background. Never rejects. */
export async function removeLater(path: string): Promise<void> {
  const trash = `${path}.gone`;
  try {
    renameSync(path, trash);
  } catch {
    // It is gone, or another process is removing it.
  }
  await removeTreeLater(trash);
}

/** Removes what an earlier process did not finish removing. */
export function removeLeftTrash(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      if (name.endsWith('.gone')) removeTree(join(parent, name));
    }
  } catch {
    // Nothing is there, or another process is doing the same.
  }
}
