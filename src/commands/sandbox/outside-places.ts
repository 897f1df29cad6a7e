import type { Confinement, DiscardedWrites } from '../../contract/processes.js';
import { systemClock } from '../../platform/clock/clock.js';
import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  binaryNames,
  makeBinaryDirectory,
  readBinaryFile,
  setBinaryMode,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { changedName } from '../../platform/fs/changed-name.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { LONGEST_PATH, treeBytes } from '../../platform/fs/tree-bytes.js';
import {
  makeOwnDirectory,
  ownDirectories,
  privateDirectory,
  removeLater,
  removeLeftTrash,
} from '../../platform/process/transaction-directory.js';
import { ownIds, temporaryHome } from '../../platform/runtime/environment.js';
import { mountedPaths } from './bubblewrap-arguments.js';
import { isCache } from './cache-places.js';
import { ElsewhereLink } from './elsewhere-link.js';
import type { PersonalFile } from './git/personal-settings.js';
import { isWithin } from './mount-holder.js';

/** Writable, initially empty directories outside the roots. A command's files there do not last. */
export interface OutsidePlaces {
  /** Size limit, together with the changes of a transaction. Above it, the command is ended. */
  readonly maxMb: number;
  /**
   * Their disk usage; Infinity if a path in them is too long. @param when resolves when nothing can change them
   */
  bytes(when?: 'ended'): number;
  /** Whether the command looked for a path that is neither there nor in the roots. */
  isLookedBeyond(): boolean;
  /** The command's files there; undefined if none is worth reporting. All its processes must be dead. */
  list(): Promise<DiscardedWrites | undefined>;
  /** Removes their content. Never throws. */
  remove(): void;
}

interface Place {
  /** The command's name for it. */
  readonly name: string;
  readonly directory: BinaryPath;
}

export interface OutsideOptions {
  readonly confinement: Pick<Confinement, 'roots' | 'transactions'>;
  /** If absent: it has none. */
  readonly layers: { readonly outside: string } | undefined;
  /** The home of the command, from `emptyHome`. */
  readonly home: string | undefined;
  /** Files that are provided there. */
  readonly given: readonly PersonalFile[];
}

/** The bubblewrap arguments, and the files left by the command. */
interface OpenedOutside {
  readonly mounts: readonly string[];
  /** The same after all other mounts are known. */
  beyond(isTaken: (path: string) => boolean): readonly string[];
  placesFor(args: readonly string[]): OutsidePlaces;
}

/** Undefined if there is no directory that only this user can read. */
export function openOutside(options: OutsideOptions): OpenedOutside | undefined {
  const { layers, home } = options;
  const names = home === undefined || isWithin(home, '/tmp') ? ['/tmp'] : [home, '/tmp'];
  const top = layers === undefined ? makeAlone(options) : makeIn(layers.outside);
  if (top === undefined) return undefined;
  const places = names.map((name, index): Place => {
    const directory = toBinary(`${top}/${index}`);
    makeBinaryDirectory(directory, 0o755);
    return { name, directory };
  });
  const elsewhere = new ElsewhereLink(`${top}/elsewhere`);
  const binds = names.flatMap((name, index) => ['--bind', `${top}/${index}`, name]);
  return {
    mounts: [...binds, ...(home === undefined || names.includes(home) ? [] : ['--dir', home])],
    beyond: (isTaken) => elsewhere.arguments(isTaken),
    placesFor: (args) => ({
      ...placesIn(top, places, elsewhere, new Walk(options, () => mountedPaths(args)), layers === undefined),
      maxMb: options.confinement.transactions?.maxMb ?? DEFAULT_MB,
    }),
  };
}

/** @param isAlone nothing else removes `top` */
function placesIn(
  top: string,
  places: readonly Place[],
  elsewhere: ElsewhereLink,
  walk: Walk,
  isAlone: boolean,
): Omit<OutsidePlaces, 'maxMb'> {
  return {
    bytes(when) {
      const sizes = [...places, elsewhere].map(({ directory }) =>
        treeBytes(directory, { isNear: true, isEnded: when === 'ended' }),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    isLookedBeyond: () => elsewhere.isFollowed,
    async list() {
      await walk.visit(places);
      return walk.writes;
    },
    remove() {
      if (isAlone || walk.isWritten) void removeLater(top);
    },
  };
}

/** The default of `max_transaction_mb`, for commands without transactions. */
const DEFAULT_MB = 2048;

function makeIn(parent: string): string {
  const path = `${parent}/outside-${++count}`;
  makeBinaryDirectory(toBinary(path), 0o700);
  return path;
}

let count = 0;

/** For a command that writes through, which has no layers next to it. */
function makeAlone({ confinement: { roots, transactions } }: OutsideOptions): string | undefined {
  const { uid } = ownIds();
  for (const place of [...(transactions?.places ?? []), `${temporaryHome()}/toolexec-outside-${uid}`]) {
    const parent = privateDirectory(place);
    if (parent === undefined || roots.some((root) => isWithin(parent, root))) continue;
    if (!swept.has(parent)) sweep(parent);
    return makeOwnDirectory(parent, KIND, []);
  }
  return undefined;
}

const KIND = 'outside';
const swept = new Set<string>();

/** Removes leftovers of killed processes. */
function sweep(parent: string): void {
  swept.add(parent);
  for (const { path, maker } of ownDirectories(parent, KIND)) if (maker === 'gone') removeTree(path);
  removeLeftTrash(parent);
}

/** The maximum number of paths to report. */
const MOST_PATHS = 200;
/** A command can create any number of files: after this many, the rest is not counted. */
const MOST_ENTRIES = 100_000;
const LONGEST_LOOK_MS = 1000;

class Walk {
  readonly #options: OutsideOptions;
  readonly #mountedPaths: () => ReadonlySet<string>;
  #mounted: ReadonlySet<string> | undefined;
  readonly #paths: string[] = [];
  readonly #slices = timeSlices();
  #until = Number.POSITIVE_INFINITY;
  #seen = 0;
  #more = 0;
  #isWritten = false;

  /** @param mountedPaths paths that exist before the command */
  constructor(options: OutsideOptions, mountedPaths: () => ReadonlySet<string>) {
    this.#options = options;
    this.#mountedPaths = mountedPaths;
  }

  /** The places contain more than the mounts needed. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  get writes(): DiscardedWrites | undefined {
    if (this.#paths.length === 0) return undefined;
    const paths = this.#paths.sort();
    return this.#more === 0 ? { paths } : { paths, more: this.#more };
  }

  /** Outer directories first: a person rarely looks for deep files. */
  async visit(places: readonly Place[]): Promise<void> {
    this.#until = systemClock.monotonic() + LONGEST_LOOK_MS;
    let level = places;
    while (level.length > 0) {
      const next: Place[] = [];
      for (const directory of level) {
        if (this.#slices.isOver()) await this.#slices.next();
        if (this.#seen > MOST_ENTRIES || systemClock.monotonic() > this.#until) return;
        next.push(...this.#look(directory, level === places));
      }
      level = next;
    }
  }

  /** @returns its subdirectories. */
  #look(place: Place, isOurs: boolean): readonly Place[] {
    const names = openedNames(place.directory);
    const isMade = !isOurs && !this.#isMounted(place.name);
    if (isMade) this.#isWritten = true;
    if (isMade && names.length === 0) this.#add(`${place.name}/`);
    return names.flatMap((name) => this.#lookAt(place, name));
  }

  #lookAt(place: Place, last: BinaryPath): readonly Place[] {
    this.#seen++;
    const directory = `${place.directory}/${last}`;
    const name = `${place.name}/${changedName(last)}`;
    const entry = binaryEntry(directory);
    if (entry === undefined) return [];
    if (entry.kind === 'dir' && !isCache(name, this.#options.home)) {
      if (directory.length <= LONGEST_PATH) return [{ name, directory }];
      this.#add(`${name}/`);
      return [];
    }
    if (this.#isMounted(name) || this.#isGiven(name, directory, entry)) return [];
    this.#isWritten = true;
    // Sockets and pipes end with their processes.
    if (entry.kind !== 'special' && !isCache(name, this.#options.home)) this.#add(name);
    return [];
  }

  /** Unchanged since it was provided: `git config --global` in a command changes it. */
  #isGiven(name: string, at: BinaryPath, { kind, size }: BinaryEntry): boolean {
    const text = this.#options.given.find(({ path }) => path === name)?.text;
    if (text === undefined || kind !== 'file') return false;
    const bytes = Buffer.from(text);
    return bytes.length === size && bytes.equals(readBinaryFile(at));
  }

  #isMounted(name: string): boolean {
    this.#mounted ??= this.#mountedPaths();
    return this.#mounted.has(name);
  }

  #add(name: string): void {
    if (this.#paths.length === MOST_PATHS) this.#more++;
    else this.#paths.push(name);
  }
}

/** A command may have made it inaccessible. */
function openedNames(directory: BinaryPath): readonly BinaryPath[] {
  try {
    const mode = binaryEntry(directory)?.mode ?? 0;
    if ((mode & 0o500) !== 0o500) setBinaryMode(directory, mode | 0o500);
    return binaryNames(directory).sort();
  } catch {
    // The disk fails, so nothing is known about it.
    return [];
  }
}
