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
import { join } from 'node:path';
import { makeDirectories } from '../fs/make-directories.js';
import { isOutOfReach } from '../fs/out-of-reach.js';
import { removeTree, removeTreeLater } from '../fs/remove-tree.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

/**
 * A directory that is ours alone, for directories that other users must not look into. Its real path; undefined where it
 * cannot be made, belongs to another user, or lies in a directory in which others could put another one in its place.
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

/** A new directory that says which process made it. */
export function makeOwnDirectory(parent: string, kind: string, inside: readonly string[]): string {
  const path = join(parent, `${kind}-${ownTag()}-${randomBytes(8).toString('hex')}`);
  mkdirSync(path, { mode: 0o700 });
  for (const name of inside) makeDirectories(join(path, name));
  return path;
}

/** The directories of a kind, and what has become of the processes that made them. */
export function ownDirectories(
  parent: string,
  kind: string,
): readonly { readonly path: string; readonly maker: ReturnType<typeof fateOf> }[] {
  const name = new RegExp(`^${kind}-([0-9a-f]{${TAG_DIGITS}})-[0-9a-f]{16}$`);
  let entries: Dirent[] = [];
  try {
    entries = readdirSync(parent, { withFileTypes: true });
  } catch {
    // There is none yet.
  }
  return entries.flatMap((entry) => {
    const tag = name.exec(entry.name)?.[1];
    return tag === undefined ? [] : [{ path: join(parent, entry.name), maker: fateOf(tag) }];
  });
}

/** The paths of the directories in it whose name fits. */
export function directoriesOf(parent: string, name: RegExp): readonly string[] {
  return readdirSync(parent, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && name.test(entry.name) ? [join(parent, entry.name)] : [],
  );
}

/** Undefined where there is no such file. */
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

/** Milliseconds since the epoch; undefined where nothing is there. */
export function modifiedMs(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** It is gone at once by its name; what is in it goes beside the event loop. Never rejects. */
export async function removeLater(path: string): Promise<void> {
  const trash = `${path}.gone`;
  try {
    renameSync(path, trash);
  } catch {
    // It is gone, or was on its way.
  }
  await removeTreeLater(trash);
}

/** What an earlier process was still removing. */
export function removeLeftTrash(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      if (name.endsWith('.gone')) removeTree(join(parent, name));
    }
  } catch {
    // Nothing is there, or another process does the same.
  }
}
