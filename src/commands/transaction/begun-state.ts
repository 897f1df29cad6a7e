import type { Clock } from '../../contract/context.js';
import type { SeenDirectory } from '../../contract/files.js';
import { systemClock } from '../../platform/clock/clock.js';
import { contentHash } from '../../platform/fs/binary-content.js';
import { type BinaryEntry, type BinaryPath, binaryEntry, toText } from '../../platform/fs/binary-fs.js';

/**
 * The state of the roots when a command began. Paths are absolute.
 *
 * 1. An entry with an older change time is unchanged: on every supported file system, a new content, mode,
 *   name or place sets it. So is one whose change time is still in the future: the machine's clock was ahead when it
 *   was set.
 * 2. A newer change time alone is not a change: a directory is compared by identity, a file by content, type
 *   and mode, if these were recorded in time.
 * 3. Without a record, a newer change time counts as a change. Then the command is run again, which costs
 *   time but never another program's work.
 */
export class BegunState {
  readonly begunNs: bigint;
  readonly #directories: readonly SeenDirectory[];
  #byPath: ReadonlyMap<string, SeenDirectory> | undefined;
  readonly #notes = new Map<BinaryPath, EntryNote>();
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #startMs: number;

  /** @param directories as they were examined just before */
  constructor(
    begunNs: bigint,
    directories: readonly SeenDirectory[],
    clock: Pick<Clock, 'now' | 'monotonic'> = systemClock,
  ) {
    this.begunNs = begunNs;
    this.#directories = directories;
    this.#clock = clock;
    this.#startMs = clock.monotonic();
  }

  /** Whether an entry with this change time is as it was. */
  isOld(ctimeNs: bigint): boolean {
    // The clock may have been set during the command: back, or forward.
    const expectedMs = Number(this.begunNs / 1_000_000n) + this.#clock.monotonic() - this.#startMs;
    const nowMs = this.#clock.now();
    const backMs = expectedMs - nowMs;
    const startNs = backMs < CLOCK_MS ? this.begunNs : this.begunNs - BigInt(Math.ceil(backMs)) * 1_000_000n;
    if (ctimeNs <= startNs) return true;
    return ctimeNs > BigInt(Math.ceil(Math.max(nowMs, expectedMs) + FUTURE_MS)) * 1_000_000n;
  }

  /** Whether a directory is still the same one. Its mode is compared separately. */
  isSameDirectory(at: BinaryPath, entry: BinaryEntry): boolean {
    // Changing a directory's entries sets both times, moving the directory only this one.
    const isFilled = this.#seen(at) === undefined && entry.ctimeNs === entry.mtimeNs;
    return isFilled || this.isKnownDirectory(at, entry);
  }

  /** The same for a directory that is to be removed with its content: an unknown one may have been moved there. */
  isKnownDirectory(at: BinaryPath, entry: BinaryEntry): boolean {
    if (this.isOld(entry.ctimeNs)) return true;
    const seen = this.#seen(at);
    return seen !== undefined && seen.ino === Number(entry.ino) && seen.dev === Number(entry.dev);
  }

  /** The earlier mode of a directory. Undefined if unknown. */
  modeOf(at: BinaryPath, entry: BinaryEntry): number | undefined {
    return this.isOld(entry.ctimeNs) ? entry.mode : this.#seen(at)?.mode;
  }

  /** Whether a file or link is unchanged. */
  isSameEntry(at: BinaryPath, entry: BinaryEntry): boolean {
    if (this.isOld(entry.ctimeNs)) return true;
    const note = this.#notes.get(at);
    return note !== undefined && note !== 'absent' && isSameNote(note, noteOf(at, entry));
  }

  /**
   * Whether an entry that is missing now existed then. True also if its directory was not read and has changed since.
   */
  had(at: BinaryPath): boolean {
    const note = this.#notes.get(at);
    if (note !== undefined) return note !== 'absent';
    const slash = at.lastIndexOf('/');
    const directory = at.slice(0, slash);
    const seen = this.#seen(directory);
    // A name that is not UTF-8 was read like this too.
    if (seen !== undefined) return seen.has(Buffer.from(at.slice(slash + 1), 'latin1').toString());
    const entry = directory === '' ? undefined : binaryEntry(directory);
    if (entry === undefined) return false;
    return this.isOld(entry.ctimeNs) ? binaryEntry(at) !== undefined : this.had(directory);
  }

  /** Whether an entry that exists now had another name then, or none. True also if its directory was not read. */
  isNewName(at: BinaryPath): boolean {
    const note = this.#notes.get(at);
    if (note !== undefined) return note === 'absent';
    const slash = at.lastIndexOf('/');
    const directory = at.slice(0, slash);
    const seen = this.#seen(directory);
    if (seen !== undefined) return !seen.has(Buffer.from(at.slice(slash + 1), 'latin1').toString());
    return !this.isOld(binaryEntry(directory)?.ctimeNs ?? 0n);
  }

  /** Records the content of a file while it is unchanged. Large files are not read. */
  note(at: BinaryPath): void {
    if (this.#notes.has(at) || this.#notes.size >= MOST_NOTES) return;
    const entry = binaryEntry(at);
    if (entry === undefined) {
      const parent = binaryEntry(at.slice(0, at.lastIndexOf('/')));
      if (parent !== undefined && this.isOld(parent.ctimeNs)) this.#notes.set(at, 'absent');
    } else if (this.isOld(entry.ctimeNs)) {
      const note = noteOf(at, entry);
      // Another program may have changed it during the read.
      if (note !== undefined && this.isOld(binaryEntry(at)?.ctimeNs ?? entry.ctimeNs))
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

/** A smaller difference is that of two clocks, not a clock that was set. */
const CLOCK_MS = 2000;
/** A later change time was not set by a change during the command, or during this comparison. */
const FUTURE_MS = 60_000;

const MOST_NOTES = 10_000;
/** Larger files are compared by their times only. */
const NOTED_BYTES = 1024 * 1024;

function noteOf(at: BinaryPath, { kind, mode, size }: BinaryEntry): EntryNote | undefined {
  if (size > NOTED_BYTES) return undefined;
  try {
    const content = contentHash(at, { kind });
    return content === undefined ? undefined : { kind, mode, content };
  } catch {
    // Another program has just removed it or made it inaccessible.
    return undefined;
  }
}

function isSameNote(one: Exclude<EntryNote, 'absent'>, other: EntryNote | undefined): boolean {
  if (other === undefined || other === 'absent') return false;
  return one.kind === other.kind && one.mode === other.mode && one.content === other.content;
}
