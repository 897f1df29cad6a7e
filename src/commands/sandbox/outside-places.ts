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

/** Directories outside of the roots that a command finds empty and may write in. What it leaves there does not last. */
export interface OutsidePlaces {
  /** What may lie there, with what is changed in a transaction; more than that, and the command is ended. */
  readonly maxMb: number;
  /** What they take on the disk; Infinity if a path in them is too long. @param when nothing changes them any more */
  bytes(when?: 'ended'): number;
  /** The command has looked for what lies neither there nor in the roots. */
  isLookedBeyond(): boolean;
  /** What the command has left there; undefined: nothing worth a word. It and all that it started must be dead. */
  list(): Promise<DiscardedWrites | undefined>;
  /** Removes what is in them. Never throws. */
  remove(): void;
}

interface Place {
  /** What the command calls it. */
  readonly name: string;
  readonly directory: BinaryPath;
}

export interface OutsideOptions {
  readonly confinement: Pick<Confinement, 'roots' | 'transactions'>;
  /** Left out: it has none. */
  readonly layers: { readonly outside: string } | undefined;
  /** Of the command: of `emptyHome`. */
  readonly home: string | undefined;
  /** What is put there for it. */
  readonly given: readonly PersonalFile[];
}

/** What bubblewrap has to be told, and what is left there, by all that it is told. */
interface OpenedOutside {
  readonly mounts: readonly string[];
  /** The same, once all other mounts are known. */
  beyond(isTaken: (path: string) => boolean): readonly string[];
  placesFor(args: readonly string[]): OutsidePlaces;
}

/** Undefined where there is no directory that only this user can look into. */
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

/** The default of `max_transaction_mb`, where transactions are off. */
const DEFAULT_MB = 2048;

function makeIn(parent: string): string {
  const path = `${parent}/outside-${++count}`;
  makeBinaryDirectory(toBinary(path), 0o700);
  return path;
}

let count = 0;

/** The command writes through: there are no layers that it could lie beside. */
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

/** What processes have left that were killed. */
function sweep(parent: string): void {
  swept.add(parent);
  for (const { path, maker } of ownDirectories(parent, KIND)) if (maker === 'gone') removeTree(path);
  removeLeftTrash(parent);
}

/** Paths that are named. */
const MOST_PATHS = 200;
/** A command can make as many files as it likes: what was not looked at after this is not counted either. */
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

  /** @param mountedPaths of what is there before the command */
  constructor(options: OutsideOptions, mountedPaths: () => ReadonlySet<string>) {
    this.#options = options;
    this.#mountedPaths = mountedPaths;
  }

  /** There is more in them than what mounts needed. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  get writes(): DiscardedWrites | undefined {
    if (this.#paths.length === 0) return undefined;
    const paths = this.#paths.sort();
    return this.#more === 0 ? { paths } : { paths, more: this.#more };
  }

  /** The outer directories first: what lies deep is seldom what a person looks for. */
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

  /** @returns the directories in it. */
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
    // Sockets and pipes end with the processes that use them.
    if (entry.kind !== 'special' && !isCache(name, this.#options.home)) this.#add(name);
    return [];
  }

  /** As it was given: `git config --global` in a command changes it. */
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

/** A command may have closed it to its owner. */
function openedNames(directory: BinaryPath): readonly BinaryPath[] {
  try {
    const mode = binaryEntry(directory)?.mode ?? 0;
    if ((mode & 0o500) !== 0o500) setBinaryMode(directory, mode | 0o500);
    return binaryNames(directory).sort();
  } catch {
    // The disk fails. Nothing can be said of it.
    return [];
  }
}
