import { dirname } from 'node:path';
import type { GuardedPath } from '../../contract/files.js';
import {
  type BinaryEntry,
  binaryEntry,
  linkBinary,
  makeBinaryDirectory,
  removeBinary,
  removeBinaryDirectory,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { setEntryTimes, writePlaceholder } from '../../platform/fs/placeholder-entry.js';
import { isWithin } from '../sandbox/mount-holder.js';

/** A file that git tracks, and that commands may not see: something of its size and time is in its place. */
export interface TrackedHidden {
  /** Absolute. */
  readonly at: string;
  readonly size: number;
  readonly modifiedSeconds: number;
  readonly isExecutable: boolean;
}

/**
 * The layer of an overlay that hides what commands may not see: a whiteout stands for each file and directory, a
 * placeholder for what git tracks. It is made once, and changed where what is hidden has changed: that is told by the
 * caller, who gives the very same lists as long as nothing has.
 */
export class MasksLayer {
  readonly #root: string;
  readonly #directory: string;
  readonly #whiteout: () => string;
  /** By the path below the root. */
  #masks = new Map<string, Mask>();
  #hidden: readonly GuardedPath[] | undefined;
  #tracked: readonly TrackedHidden[] | undefined;

  /** @param whiteout the path of one that can get another name. */
  constructor(root: string, directory: string, whiteout: () => string) {
    this.#root = root;
    this.#directory = directory;
    this.#whiteout = whiteout;
  }

  get path(): string {
    return this.#directory;
  }

  /** Whether it is as it has to be for these lists. */
  isFor(hidden: readonly GuardedPath[], tracked: readonly TrackedHidden[]): boolean {
    return this.#hidden === hidden && this.#tracked === tracked;
  }

  /** The same where the lists are others that say the same. */
  fits(hidden: readonly GuardedPath[], tracked: readonly TrackedHidden[]): boolean {
    if (this.isFor(hidden, tracked)) return true;
    if (this.#hidden === undefined) return false;
    const wanted = this.#wanted(hidden, tracked);
    const isSame =
      wanted.size === this.#masks.size &&
      [...wanted].every(([path, mask]) => isSameMask(mask, this.#masks.get(path)));
    if (!isSame) return false;
    this.#hidden = hidden;
    this.#tracked = tracked;
    return true;
  }

  update(hidden: readonly GuardedPath[], tracked: readonly TrackedHidden[]): void {
    if (this.#hidden === undefined) makeBinaryDirectory(toBinary(this.#directory), 0o700);
    const wanted = this.#wanted(hidden, tracked);
    // The innermost first.
    for (const path of [...this.#masks.keys()].sort().reverse()) {
      if (this.#masks.get(path)?.key !== wanted.get(path)?.key) this.#take(path);
    }
    for (const path of [...wanted.keys()].sort()) {
      const mask = wanted.get(path);
      if (mask !== undefined && !this.#masks.has(path)) this.#put(path, mask);
    }
    // Last, because what is made in a directory changes its time. The innermost first, for the same reason.
    for (const path of [...wanted.keys()].sort().reverse()) {
      const { directory } = wanted.get(path) ?? {};
      if (directory !== undefined) setEntryTimes(this.#at(path), directory.mode, directory.mtimeNs);
    }
    this.#masks = wanted;
    this.#hidden = hidden;
    this.#tracked = tracked;
  }

  #wanted(hidden: readonly GuardedPath[], tracked: readonly TrackedHidden[]): Map<string, Mask> {
    const wanted = new Map<string, Mask>();
    const byPath = new Map(tracked.map((file) => [file.at, file]));
    for (const { path } of hidden) {
      if (!isWithin(path, this.#root) || path === this.#root) continue;
      const relative = path.slice(this.#root.length + 1);
      if (!this.#addParents(relative, wanted)) continue;
      const file = byPath.get(path);
      wanted.set(relative, file === undefined ? WHITEOUT : { key: JSON.stringify(file), placeholder: file });
    }
    return wanted;
  }

  /** False where one of them is gone. */
  #addParents(relative: string, wanted: Map<string, Mask>): boolean {
    const parent = dirname(relative);
    if (parent === '.' || wanted.get(parent)?.directory !== undefined) return true;
    const entry = binaryEntry(toBinary(`${this.#root}/${parent}`));
    if (entry?.kind !== 'dir' || !this.#addParents(parent, wanted)) return false;
    wanted.set(parent, { key: 'directory', directory: entry });
    return true;
  }

  #take(path: string): void {
    const at = this.#at(path);
    if (this.#masks.get(path)?.directory !== undefined) removeBinaryDirectory(at);
    else removeBinary(at);
    this.#masks.delete(path);
  }

  #put(path: string, { directory, placeholder }: Mask): void {
    const at = this.#at(path);
    if (directory !== undefined) makeBinaryDirectory(at, 0o700);
    else if (placeholder !== undefined) writePlaceholder(at, placeholder);
    else linkBinary(toBinary(this.#whiteout()), at);
  }

  #at(path: string): string {
    return toBinary(`${this.#directory}/${path}`);
  }
}

interface Mask {
  /** The same for two that are the same. */
  readonly key: string;
  readonly directory?: BinaryEntry;
  readonly placeholder?: TrackedHidden;
}

function isSameMask({ key, directory }: Mask, other: Mask | undefined): boolean {
  return (
    key === other?.key &&
    directory?.mode === other.directory?.mode &&
    directory?.mtimeNs === other.directory?.mtimeNs
  );
}

const WHITEOUT: Mask = { key: 'whiteout' };
