import { join, sep } from 'node:path';
import { covers } from '../base/covers.js';
import type { OpenEntry, OpenFile } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { entryStat, errnoOf } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { admit, type Containment } from './containment.js';
import type { DenyRules } from './deny-rules.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { openTarget } from './open-place.js';

/** Opens a directory or regular file for a program that cannot use descriptors itself. */
export function openContained(containment: Containment, asked: string): OpenEntry {
  const request = admit(containment, asked, 'read');
  return withFailures('read', asked, () => {
    const opened = openTarget(containment, request);
    const type = opened.stat.isDirectory() ? 'dir' : 'file';
    if (type === 'file' && !opened.stat.isFile()) {
      opened.handle.close();
      throw new ToolError('execution_failed', `path is not a regular file: ${asked}`, {
        details: { path: asked },
      });
    }
    const root = containment.rootSet.rootOf(opened.path) ?? request.root;
    // The requested path may be denied although its target is not, and the reverse.
    const spellings = opened.path === request.path ? [opened.path] : [opened.path, request.path];
    let known = opened.path;
    // Its name is queried again only if it may have been moved.
    const isBelow = (name: string, relative: Uint8Array): boolean => {
      if (name === nameBelow(known, relative)) return true;
      known = opened.handle.name();
      return name === nameBelow(known, relative);
    };
    return {
      type,
      path: opened.path,
      root,
      at: opened.handle.at,
      ...(containment.opener.under === undefined ? {} : { under: containment.opener.under }),
      openForReading: () => opened.handle.openForReading(),
      deniedEntries(directory) {
        const [isDenied = EVERYTHING, isDeniedAsAsked] = spellings.map((base) =>
          denialBelow(containment.denies, base, directory),
        );
        if (isDeniedAsAsked === undefined) return isDenied;
        return (name) => isDenied(name) || isDeniedAsAsked(name);
      },
      fileBelow: (relative, look) =>
        lookAtFile(containment, below(opened.handle, relative), (name) => isBelow(name, relative), look),
      filesIn: (directory, names) => lookForFiles(containment, opened.handle, directory, isBelow, names),
      fileAt: (path, look) =>
        covers(root, path) && containment.denies.deniedBy(path, 'read') === undefined
          ? lookAtFile(containment, path, (name) => name === path, look)
          : undefined,
      close: () => opened.handle.close(),
    };
  });
}

const EVERYTHING: (name: string) => boolean = () => true;

function denialBelow(denies: DenyRules, base: string, directory: string): (name: string) => boolean {
  const path = join(base, directory);
  return denies.deniedBy(path, 'read') === undefined ? denies.deniedEntries(path) : EVERYTHING;
}

/** The entry at `at`, if it is a regular file and the kernel's name shows that no link was followed. */
function lookAtFile<Value>(
  { opener, rootSet }: Containment,
  at: string | Buffer,
  isNamedRight: (name: string) => boolean,
  look: (file: OpenFile) => Value,
): Value | undefined {
  const handle = whereReachable(() => opener.open(at));
  if (handle === undefined) return undefined;
  try {
    const stat = handle.stat();
    const name = handle.name();
    if (!stat.isFile() || !isNamedRight(name)) return undefined;
    const isRefused = stat.nlink > 1 && rootSet.refusingHardLinks(name) !== undefined;
    return look({
      size: stat.size,
      modifiedMs: stat.mtimeMs,
      openForReading() {
        if (isRefused) throw fileSystemError('EACCES');
        return handle.openForReading();
      },
    });
  } finally {
    handle.close();
  }
}

/** One directory is open for all of them, so queries about its entries cannot be redirected. */
function lookForFiles(
  { opener }: Containment,
  opened: Handle,
  directory: Uint8Array,
  isBelow: (name: string, relative: Uint8Array) => boolean,
  names: readonly Uint8Array[],
): readonly boolean[] {
  const isHere = directory.length === 0;
  const handle = isHere ? opened : whereReachable(() => opener.open(below(opened, directory)));
  try {
    const isThere = handle !== undefined && (isHere || isBelow(handle.name(), directory));
    return names.map(
      (name) => isThere && whereReachable(() => entryStat(below(handle, name)))?.isFile() === true,
    );
  } finally {
    if (!isHere) handle?.close();
  }
}

/** Undefined for an entry that is gone or no longer reachable. */
function whereReachable<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

function below(handle: Handle, relative: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${handle.at}/`), relative]);
}

/** The kernel's name for a file below a directory, if no link was on the way. */
function nameBelow(directory: string, relative: Uint8Array): string {
  const below = Buffer.from(relative).toString();
  const name = sep === '/' ? below : below.replaceAll('/', sep);
  return directory.endsWith(sep) ? directory + name : directory + sep + name;
}
