import type { SeenDirectory } from '../../contract/files.js';
import { contentHash } from '../../platform/fs/binary-content.js';
import { type BinaryEntry, type BinaryPath, binaryEntry, toText } from '../../platform/fs/binary-fs.js';

/**
 * The roots as they were when a command began. Paths are absolute.
 *
 * 1. What has a change time from before is unchanged: on every file system that transactions run on, a new content, mode,
 *    name or place sets it.
 * 2. A later change time alone is no change: a directory is compared by its identity, a file by content, type and mode,
 *    where those were noted in time.
 * 3. Where nothing was noted, a later change time counts as a change. The command is run again then, which costs time and
 *    never other people's work.
 */
export class BegunState {
  readonly begunNs: bigint;
  readonly #directories: readonly SeenDirectory[];
  #byPath: ReadonlyMap<string, SeenDirectory> | undefined;
  readonly #notes = new Map<BinaryPath, EntryNote>();

  /** @param directories as they were looked into, just before */
  constructor(begunNs: bigint, directories: readonly SeenDirectory[]) {
    this.begunNs = begunNs;
    this.#directories = directories;
  }

  /** Whether a directory is the one that was at this path. Its mode is asked for apart. */
  isSameDirectory(at: BinaryPath, entry: BinaryEntry): boolean {
    if (entry.ctimeNs <= this.begunNs) return true;
    const seen = this.#seen(at);
    // What changes the entries of a directory sets both times, what moves the directory only this one.
    if (seen === undefined) return entry.ctimeNs === entry.mtimeNs;
    return seen.ino === Number(entry.ino) && seen.dev === Number(entry.dev);
  }

  /** The mode that a directory had. Undefined: not known. */
  modeOf(at: BinaryPath, entry: BinaryEntry): number | undefined {
    return entry.ctimeNs <= this.begunNs ? entry.mode : this.#seen(at)?.mode;
  }

  /** Whether a file or link is as it was. */
  isSameEntry(at: BinaryPath, entry: BinaryEntry): boolean {
    if (entry.ctimeNs <= this.begunNs) return true;
    const note = this.#notes.get(at);
    return note !== undefined && note !== 'absent' && isSameNote(note, noteOf(at, entry));
  }

  /** Whether something had this name. Undefined: it was not looked into. */
  had(at: BinaryPath): boolean | undefined {
    const note = this.#notes.get(at);
    if (note !== undefined) return note !== 'absent';
    const slash = at.lastIndexOf('/');
    return this.#seen(at.slice(0, slash))?.has(toText(at.slice(slash + 1)));
  }

  /** Remembers what a file holds, as long as it is as it was. Files that are large are not read. */
  note(at: BinaryPath): void {
    if (this.#notes.has(at) || this.#notes.size >= MOST_NOTES) return;
    const entry = binaryEntry(at);
    if (entry === undefined) {
      const parent = binaryEntry(at.slice(0, at.lastIndexOf('/')));
      if (parent !== undefined && parent.ctimeNs <= this.begunNs) this.#notes.set(at, 'absent');
    } else if (entry.ctimeNs <= this.begunNs) {
      const note = noteOf(at, entry);
      // Others may have changed it while it was read.
      if (note !== undefined && (binaryEntry(at)?.ctimeNs ?? entry.ctimeNs) <= this.begunNs)
        this.#notes.set(at, note);
    }
  }

  #seen(at: BinaryPath): SeenDirectory | undefined {
    this.#byPath ??= new Map(this.#directories.map((directory) => [directory.path, directory]));
    return this.#byPath.get(toText(at));
  }
}

type EntryNote =
  | 'absent'
  | { readonly kind: BinaryEntry['kind']; readonly mode: number; readonly content: string };

const MOST_NOTES = 10_000;
/** Larger files are told apart by their times alone. */
const NOTED_BYTES = 1024 * 1024;

function noteOf(at: BinaryPath, { kind, mode, size }: BinaryEntry): EntryNote | undefined {
  if (size > NOTED_BYTES) return undefined;
  try {
    const content = contentHash(at, { kind });
    return content === undefined ? undefined : { kind, mode, content };
  } catch {
    // Others have just removed or closed it.
    return undefined;
  }
}

function isSameNote(one: Exclude<EntryNote, 'absent'>, other: EntryNote | undefined): boolean {
  if (other === undefined || other === 'absent') return false;
  return one.kind === other.kind && one.mode === other.mode && one.content === other.content;
}
