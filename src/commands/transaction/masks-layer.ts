import type { GuardedPath } from '../../contract/files.js';
import { copyBinary, linkBinary, makeBinaryDirectory, toBinary } from '../../platform/fs/binary-fs.js';
import { errnoOf } from '../../platform/fs/fs-entry.js';
import type { CommittedFile } from '../sandbox/git/committed-versions.js';
import { isWithin } from '../sandbox/mount-holder.js';
import { LayerTree, type Leaf } from './layer-tree.js';

/**
 * The overlay layers that hide paths from commands: a whiteout for each file and directory, and above them
 * the committed versions of tracked files. They are created once, and updated when the hidden paths change:
 * the caller passes the identical lists as long as they have not.
 */
export class MasksLayer {
  readonly #root: string;
  readonly #directory: string;
  readonly #whiteout: () => string;
  readonly #whiteouts: LayerTree;
  readonly #committed: LayerTree;
  #hidden: readonly GuardedPath[] | undefined;
  #files: readonly CommittedFile[] | undefined;

  /** @param whiteout the path of one that can be hard-linked. */
  constructor(root: string, directory: string, whiteout: () => string) {
    this.#root = root;
    this.#directory = directory;
    this.#whiteout = whiteout;
    this.#whiteouts = new LayerTree(root, `${directory}/hidden`);
    this.#committed = new LayerTree(root, `${directory}/committed`);
  }

  /** The directory that contains everything. */
  get directory(): string {
    return this.#directory;
  }

  /** The layers, upper one first, as `mount` expects them. */
  get path(): string {
    const layers = this.#committed.isEmpty ? [this.#whiteouts] : [this.#committed, this.#whiteouts];
    return layers.map(({ path }) => path).join(':');
  }

  /** Whether it is up to date for these lists. */
  isFor(hidden: readonly GuardedPath[], files: readonly CommittedFile[]): boolean {
    return this.#hidden === hidden && this.#files === files;
  }

  /** The same for other lists with equal content. */
  fits(hidden: readonly GuardedPath[], files: readonly CommittedFile[]): boolean {
    if (this.isFor(hidden, files)) return true;
    if (this.#hidden === undefined) return false;
    if (!this.#whiteouts.has(this.#whiteoutsOf(hidden)) || !this.#committed.has(this.#filesOf(files)))
      return false;
    this.#hidden = hidden;
    this.#files = files;
    return true;
  }

  update(hidden: readonly GuardedPath[], files: readonly CommittedFile[]): void {
    if (this.#hidden === undefined) makeBinaryDirectory(toBinary(this.#directory), 0o700);
    this.#whiteouts.update(this.#whiteoutsOf(hidden));
    this.#committed.update(this.#filesOf(files));
    this.#hidden = hidden;
    this.#files = files;
  }

  #whiteoutsOf(hidden: readonly GuardedPath[]): ReadonlyMap<string, Leaf> {
    const put = (at: string): void => linkBinary(toBinary(this.#whiteout()), at);
    return this.#leaves(hidden.map(({ path }) => [path, { key: 'whiteout', put }]));
  }

  #filesOf(files: readonly CommittedFile[]): ReadonlyMap<string, Leaf> {
    return this.#leaves(
      files.map(({ at, source }) => [at, { key: source, put: (path) => linkOrCopy(toBinary(source), path) }]),
    );
  }

  #leaves(all: readonly (readonly [path: string, leaf: Leaf])[]): ReadonlyMap<string, Leaf> {
    const inside = all.filter(([path]) => isWithin(path, this.#root) && path !== this.#root);
    return new Map(inside.map(([path, leaf]) => [path.slice(this.#root.length + 1), leaf]));
  }
}

/** A hard link costs nothing; another file system needs a copy. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkBinary(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    copyBinary(from, to);
  }
}
