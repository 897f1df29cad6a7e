import {
  type BinaryPath,
  binaryEntry,
  makeBinaryDirectory,
  makeBinaryLink,
  readTimeMs,
  setLinkReadTime,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { entryNames, entryStat } from '../../platform/fs/fs-entry.js';

/**
 * Detects that a command looked for a path outside the roots. The kernel does not count such look-ups, but it
 * sets the access time of a followed link. So invisible places of the machine are replaced by links to one dangling
 * link of ours: the command finds nothing there, and we see that it looked.
 */
export class ElsewhereLink {
  /** Its directory on the machine. */
  readonly directory: BinaryPath;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.directory = toBinary(path);
    makeBinaryDirectory(this.directory, 0o700);
    // In a missing directory: a program that opens the link for writing would create its target.
    makeBinaryLink('none/none', this.#link);
    setLinkReadTime(this.#link, 0);
  }

  /** Arguments for bubblewrap. @param isTaken something else is mounted there, or below */
  arguments(isTaken: (path: string) => boolean): readonly string[] {
    const places = placesHere();
    const free = (all: readonly string[]): readonly string[] => all.filter((path) => !isTaken(path));
    return [
      ...['--bind', this.#path, INSIDE],
      ...free(places.full).flatMap((path) => ['--symlink', `${INSIDE}/${NAME}`, path]),
      ...free(places.empty).flatMap((path) => ['--dir', path]),
    ];
  }

  /** A program inside has followed it. Always false on a file system without access times. */
  get isFollowed(): boolean {
    const isThere = binaryEntry(this.#link)?.kind === 'link';
    return isThere && readTimeMs(this.#link) !== 0;
  }

  get #link(): BinaryPath {
    return `${this.directory}/${NAME}`;
  }
}

const INSIDE = '/dev/toolexec/elsewhere';
const NAME = 'link';

interface Places {
  /** With content that is hidden from commands. */
  readonly full: readonly string[];
  /** Visible to commands, but read-only, so the error for a write in them names the reason. */
  readonly empty: readonly string[];
}

function placesHere(): Places {
  if (known !== undefined) return known;
  const there = PLACES.filter(isDirectory);
  const full = there.filter((path) => namesIn(path).length > 0);
  known = {
    full,
    empty: [...there.filter((path) => !full.includes(path)), ...TEMPORARY.filter(isDirectory)],
  };
  return known;
}

let known: Places | undefined;

/** Shown empty, whatever is in it: programs look there for a temporary directory. */
const TEMPORARY = ['/var/tmp'];

/**
 * Places that every machine has, so they reveal no names of this one, and that programs rarely examine
 * without a reason. (The C library looks for sockets in `/run` and `/var/run`, and many programs for the
 * number of processors in `/sys`.)
 */
const PLACES = [
  ...['home', 'media', 'mnt', 'opt', 'root', 'srv'].map((name) => `/${name}`),
  ...['lib', 'log', 'mail', 'opt', 'spool', 'www'].map((name) => `/var/${name}`),
];

function isDirectory(path: string): boolean {
  return entryStat(path)?.isDirectory() === true;
}

/** An unreadable directory is not empty. */
function namesIn(directory: string): readonly string[] {
  try {
    return entryNames(directory);
  } catch {
    return ['?'];
  }
}
