import { join, sep } from 'node:path';
import { covers } from '../base/covers.js';
import type { HeldEntry, HeldFile } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { entryStat, errnoOf } from '../platform/fs/fs-entry.js';
import type { Pin } from '../platform/fs/pin.js';
import type { DenyRules } from './deny-rules.js';
import { admit, type Enclosure } from './enclosure.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { holdTarget } from './hold.js';

/** Holds a directory or a regular file for a program that cannot walk on pinned descriptors itself. */
export function holdContained(enclosure: Enclosure, asked: string): HeldEntry {
  const request = admit(enclosure, asked, 'read');
  return withFailures('read', asked, () => {
    const held = holdTarget(enclosure, request);
    const type = held.stat.isDirectory() ? 'dir' : 'file';
    if (type === 'file' && !held.stat.isFile()) {
      held.pin.close();
      throw new ToolError('execution_failed', `path is not a regular file: ${asked}`, {
        details: { path: asked },
      });
    }
    const root = enclosure.territory.rootOf(held.path) ?? request.root;
    // The spelling may be denied where the place that a link leads to is not, and the other way round.
    const spellings = held.path === request.path ? [held.path] : [held.path, request.path];
    let known = held.path;
    // Its name is asked for again only where it may have been moved.
    const isBelow = (name: string, relative: Uint8Array): boolean => {
      if (name === nameBelow(known, relative)) return true;
      known = held.pin.name();
      return name === nameBelow(known, relative);
    };
    return {
      type,
      path: held.path,
      root,
      at: held.pin.at,
      openForReading: () => held.pin.openForReading(),
      deniedEntries(directory) {
        const [isDenied = EVERYTHING, isDeniedAsAsked] = spellings.map((base) =>
          denialBelow(enclosure.denies, base, directory),
        );
        if (isDeniedAsAsked === undefined) return isDenied;
        return (name) => isDenied(name) || isDeniedAsAsked(name);
      },
      fileBelow: (relative, look) =>
        lookAtFile(enclosure, below(held.pin, relative), (name) => isBelow(name, relative), look),
      filesIn: (directory, names) => lookForFiles(enclosure, held.pin, directory, isBelow, names),
      fileAt: (path, look) =>
        covers(root, path) && enclosure.denies.deniedBy(path, 'read') === undefined
          ? lookAtFile(enclosure, path, (name) => name === path, look)
          : undefined,
      close: () => held.pin.close(),
    };
  });
}

const EVERYTHING: (name: string) => boolean = () => true;

function denialBelow(denies: DenyRules, base: string, directory: string): (name: string) => boolean {
  const path = join(base, directory);
  return denies.deniedBy(path, 'read') === undefined ? denies.deniedEntries(path) : EVERYTHING;
}

/** What lies at `at` if that is a regular file, and the system's name for it says that no link was followed. */
function lookAtFile<Value>(
  { pinner, territory }: Enclosure,
  at: string | Buffer,
  isNamedRight: (name: string) => boolean,
  look: (file: HeldFile) => Value,
): Value | undefined {
  const pin = whereReachable(() => pinner.pin(at));
  if (pin === undefined) return undefined;
  try {
    const stat = pin.stat();
    const name = pin.name();
    if (!stat.isFile() || !isNamedRight(name)) return undefined;
    const isRefused = stat.nlink > 1 && territory.refusingHardLinks(name) !== undefined;
    return look({
      size: stat.size,
      modifiedMs: stat.mtimeMs,
      openForReading() {
        if (isRefused) throw fileSystemError('EACCES');
        return pin.openForReading();
      },
    });
  } finally {
    pin.close();
  }
}

/** One directory is held for all of them: what is asked of its entries then cannot be led elsewhere. */
function lookForFiles(
  { pinner }: Enclosure,
  held: Pin,
  directory: Uint8Array,
  isBelow: (name: string, relative: Uint8Array) => boolean,
  names: readonly Uint8Array[],
): readonly boolean[] {
  const isHere = directory.length === 0;
  const pin = isHere ? held : whereReachable(() => pinner.pin(below(held, directory)));
  try {
    const isThere = pin !== undefined && (isHere || isBelow(pin.name(), directory));
    return names.map(
      (name) => isThere && whereReachable(() => entryStat(below(pin, name)))?.isFile() === true,
    );
  } finally {
    if (!isHere) pin?.close();
  }
}

/** Undefined for what is gone, or no longer to be reached: there is nothing to look at. */
function whereReachable<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

function below(pin: Pin, relative: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${pin.at}/`), relative]);
}

/** The name that the system has for a file below a directory, when nothing on the way was a link. */
function nameBelow(directory: string, relative: Uint8Array): string {
  const below = Buffer.from(relative).toString();
  const name = sep === '/' ? below : below.replaceAll('/', sep);
  return directory.endsWith(sep) ? directory + name : directory + sep + name;
}
