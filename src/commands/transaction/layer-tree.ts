import { dirname } from 'node:path';
import {
  type BinaryEntry,
  binaryEntry,
  makeBinaryDirectory,
  removeBinary,
  removeBinaryDirectory,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { setEntryTimes } from '../../platform/fs/entry-times.js';

/** An entry of a layer at a path below the root. */
export interface Leaf {
  /** A text that is equal for equal entries. */
  readonly key: string;
  readonly put: (at: string) => void;
}

/**
 * A layer of an overlay: entries at paths, and the directories on the way, which look like those of the root.
 * It is created once, and updated when the entries change.
 */
export class LayerTree {
  readonly #root: string;
  readonly #directory: string;
  /** By the path below the root. */
  #entries: ReadonlyMap<string, Entry> | undefined;

  constructor(root: string, directory: string) {
    this.#root = root;
    this.#directory = directory;
  }

  get path(): string {
    return this.#directory;
  }

  get isEmpty(): boolean {
    return this.#entries === undefined || this.#entries.size === 0;
  }

  has(leaves: ReadonlyMap<string, Leaf>): boolean {
    const wanted = this.#wanted(leaves);
    const there = this.#entries ?? NOTHING;
    return wanted.size === there.size && [...wanted].every(([path, entry]) => isSame(entry, there.get(path)));
  }

  update(leaves: ReadonlyMap<string, Leaf>): void {
    const wanted = this.#wanted(leaves);
    if (this.#entries === undefined) makeBinaryDirectory(toBinary(this.#directory), 0o700);
    const there = this.#entries ?? NOTHING;
    // Innermost first.
    for (const path of [...there.keys()].sort().reverse()) {
      if (there.get(path)?.key !== wanted.get(path)?.key) this.#take(path, there.get(path));
    }
    for (const path of [...wanted.keys()].sort()) {
      const entry = wanted.get(path);
      if (entry !== undefined && there.get(path)?.key !== entry.key) entry.put(this.#at(path));
    }
    // Last, because creating an entry changes the directory's time. Innermost first, for the same reason.
    for (const path of [...wanted.keys()].sort().reverse()) {
      const { directory } = wanted.get(path) ?? {};
      if (directory !== undefined) setEntryTimes(this.#at(path), directory.mode, directory.mtimeNs);
    }
    this.#entries = wanted;
  }

  /** With the directories on the way; without entries in a removed directory. */
  #wanted(leaves: ReadonlyMap<string, Leaf>): ReadonlyMap<string, Entry> {
    const wanted = new Map<string, Entry>();
    for (const [path, leaf] of leaves) if (this.#addParents(path, wanted)) wanted.set(path, leaf);
    return wanted;
  }

  #addParents(path: string, wanted: Map<string, Entry>): boolean {
    const parent = dirname(path);
    if (parent === '.' || wanted.get(parent)?.directory !== undefined) return true;
    const entry = binaryEntry(toBinary(`${this.#root}/${parent}`));
    if (entry?.kind !== 'dir' || !this.#addParents(parent, wanted)) return false;
    wanted.set(parent, { key: 'directory', put: (at) => makeBinaryDirectory(at, 0o700), directory: entry });
    return true;
  }

  #take(path: string, entry: Entry | undefined): void {
    if (entry?.directory !== undefined) removeBinaryDirectory(this.#at(path));
    else removeBinary(this.#at(path));
  }

  #at(path: string): string {
    return toBinary(`${this.#directory}/${path}`);
  }
}

interface Entry extends Leaf {
  readonly directory?: BinaryEntry;
}

const NOTHING: ReadonlyMap<string, Entry> = new Map();

function isSame({ key, directory }: Entry, other: Entry | undefined): boolean {
  return (
    key === other?.key &&
    directory?.mode === other.directory?.mode &&
    directory?.mtimeNs === other.directory?.mtimeNs
  );
}
