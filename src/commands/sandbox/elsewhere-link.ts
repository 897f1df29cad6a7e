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
 * Notes that a command has looked for what lies outside of the roots. The kernel counts no such look-ups, but it sets the
 * time at which a link was followed. So the places of the machine that commands do not see are links to one link of ours,
 * which leads to nothing: for the command nothing is there, and we see that it wanted to go there.
 */
export class ElsewhereLink {
  /** Where it lies on the machine. */
  readonly directory: BinaryPath;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.directory = toBinary(path);
    makeBinaryDirectory(this.directory, 0o700);
    // In a directory that is not there: a program that opens the link to write would make its target.
    makeBinaryLink('none/none', this.#link);
    setLinkReadTime(this.#link, 0);
  }

  /** For bubblewrap. @param isTaken something else is mounted there, or below */
  arguments(isTaken: (path: string) => boolean): readonly string[] {
    const places = hiddenPlaces().filter((path) => !isTaken(path));
    return [
      ...['--bind', this.#path, INSIDE],
      ...places.flatMap((path) => ['--symlink', `${INSIDE}/${NAME}`, path]),
    ];
  }

  /** Some program inside has followed it. Always false on a file system that keeps no such times. */
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

/** Those that hold something: of an empty one nothing is kept from a command. */
function hiddenPlaces(): readonly string[] {
  places ??= PLACES.filter((path) => entryStat(path)?.isDirectory() === true && namesIn(path).length > 0);
  return places;
}

let places: readonly string[] | undefined;

/**
 * What every machine has, so that no name of this one is told, and what programs seldom look into for no reason. (The C
 * library looks for sockets in `/run` and `/var/run`, and many programs for the number of processors in `/sys`.)
 */
const PLACES = [
  ...['home', 'media', 'mnt', 'opt', 'root', 'srv'].map((name) => `/${name}`),
  ...['lib', 'log', 'mail', 'opt', 'spool', 'www'].map((name) => `/var/${name}`),
];

/** What may not be read is not empty. */
function namesIn(directory: string): readonly string[] {
  try {
    return entryNames(directory);
  } catch {
    return ['?'];
  }
}
