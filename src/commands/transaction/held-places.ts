import {
  appendBinary,
  type BinaryPath,
  binaryEntry,
  type HeldDirectory,
  holdDirectory,
  readBinaryFile,
  removeBinary,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import type { PlannedChange, TransactionPlan } from './transaction-plan.js';

/** Open directories during a commit: those on the way to the last change. */
export class HeldPlaces {
  readonly #roots: readonly string[];
  readonly #inodes: readonly string[] | undefined;
  readonly #notes: BinaryPath | undefined;
  readonly #made = new Set<string>();
  /** The final modes of directories, in order. */
  readonly #modes = new Map<string, { readonly change: PlannedChange; readonly mode: number }>();
  #root: number | undefined;
  #held: { readonly name: BinaryPath; readonly directory: HeldDirectory }[] = [];

  /** @param directory of the transaction: keeps the modes of opened directories, in case the process dies */
  constructor({ roots, inodes }: Pick<TransactionPlan, 'roots' | 'inodes'>, directory?: BinaryPath) {
    this.#roots = roots;
    this.#inodes = inodes;
    this.#notes = directory === undefined ? undefined : `${directory}/${OPENED}`;
    this.#takeOverOpened();
  }

  /** The entry of a change, through its open directory. */
  at({ root, path }: Pick<PlannedChange, 'root' | 'path'>): BinaryPath {
    const names = path.split('/');
    const name = names.pop() ?? '';
    return `${this.#hold(root, names).at}/${name}`;
  }

  /** Its directory exists. */
  hasWay(change: PlannedChange): boolean {
    try {
      this.at(change);
      return true;
    } catch (error) {
      if (error instanceof Conflict) return false;
      throw error;
    }
  }

  made({ root, path }: PlannedChange): void {
    this.#made.add(`${root}/${path}`);
  }

  /** Its directory was just created, so it is empty. */
  isNew({ root, path }: PlannedChange): boolean {
    const slash = path.lastIndexOf('/');
    return slash !== -1 && this.#made.has(`${root}/${path.slice(0, slash)}`);
  }

  /** Sets the mode when everything in the directory is in place. */
  keepMode(change: PlannedChange, mode: number): void {
    this.#modes.set(`${change.root}/${change.path}`, { change, mode });
  }

  /** Temporarily lets the owner write in the directory of a change. */
  openUp({ root, path }: PlannedChange): void {
    const slash = path.lastIndexOf('/');
    if (slash === -1) return;
    const change: PlannedChange = { change: 'modify', kind: 'dir', root, path: path.slice(0, slash) };
    const at = this.at(change);
    const there = binaryEntry(at);
    if (there?.kind !== 'dir' || (there.mode & 0o300) === 0o300) return;
    if (!this.#modes.has(`${root}/${change.path}`)) {
      if (this.#notes !== undefined)
        appendBinary(this.#notes, `\n${JSON.stringify({ ...change, mode: there.mode })}`);
      this.keepMode(change, there.mode);
    }
    setBinaryMode(at, there.mode | 0o300);
  }

  /** A process that died has not set the modes of the directories that it had opened. */
  #takeOverOpened(): void {
    for (const line of this.#notes === undefined ? [] : linesOf(this.#notes)) {
      try {
        const change: Opened = JSON.parse(line);
        const there = binaryEntry(this.at(change));
        if (there?.kind === 'dir' && there.mode === (change.mode | 0o300)) this.keepMode(change, change.mode);
      } catch {
        // The directory is gone, or the line is incomplete: then its directory was not opened yet.
      }
    }
  }

  /** Innermost first: the mode of one may make the next inaccessible. */
  setModes(): void {
    for (const { change, mode } of [...this.#modes.values()].reverse()) {
      try {
        setDirectoryMode(this.at(change), mode);
      } catch {
        // It is gone, or belongs to another program now.
      }
    }
    this.#modes.clear();
    // If this plan is tried again, these directories may have other modes, which must stay.
    if (this.#notes !== undefined && binaryEntry(this.#notes) !== undefined) removeBinary(this.#notes);
  }

  close(): void {
    for (const { directory } of this.#held.splice(0)) directory.close();
    this.#root = undefined;
  }

  #hold(root: number, names: readonly BinaryPath[]): HeldDirectory {
    if (this.#root !== root) this.close();
    if (this.#held.length === 0) {
      const directory = holdDirectory(this.#roots[root] ?? '');
      if (directory === undefined) throw new Conflict('the root is gone or was replaced');
      this.#held = [{ name: '', directory }];
      const known = this.#inodes?.[root];
      if (known !== undefined && known !== binaryEntry(`${directory.at}/.`)?.ino) {
        this.close();
        throw new Conflict('the root is gone or was replaced');
      }
      this.#root = root;
    }
    let depth = 0;
    while (depth < names.length && this.#held[depth + 1]?.name === names[depth]) depth++;
    for (const { directory } of this.#held.splice(depth + 1)) directory.close();
    for (const name of names.slice(depth)) {
      const directory = this.#held.at(-1)?.directory.enter(name);
      if (directory === undefined)
        throw new Conflict('the directory that it is in is gone or has become a link');
      this.#held.push({ name, directory });
    }
    const last = this.#held.at(-1);
    if (last === undefined) throw new Error('a root is held');
    return last.directory;
  }
}

/** The file with the modes of opened directories, one in each line. */
export const OPENED = 'opened.jsonl';

type Opened = PlannedChange & { readonly mode: number };

function linesOf(notes: BinaryPath): readonly string[] {
  return binaryEntry(notes) === undefined ? [] : readBinaryFile(notes).toString().split('\n').filter(Boolean);
}

/** Set-group-ID is inherited from the parent directory, not taken from the command. */
function setDirectoryMode(at: BinaryPath, mode: number): void {
  const there = binaryEntry(at);
  if (there?.kind !== 'dir' || (there.mode & 0o1777) === (mode & 0o1777)) return;
  setBinaryMode(at, (mode & 0o1777) | (there.mode & 0o6000));
}

/** Another program has changed the entry. */
export class Conflict extends Error {}
