import {
  type BinaryPath,
  binaryEntry,
  makeBinaryDirectory,
  makeBinaryLink,
  readTimeMs,
  setBinaryMode,
  setLinkReadTime,
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

  constructor(directory: BinaryPath) {
    this.directory = directory;
    makeBinaryDirectory(directory, 0o700);
    // In a directory that is not there: a program that opens the link to write would make its target.
    makeBinaryLink('none/none', this.#link);
    setLinkReadTime(this.#link, 0);
    setBinaryMode(directory, 0o555);
  }

  /** For bubblewrap. @param isTaken something else is mounted there, or below */
  arguments(isTaken: (path: string) => boolean): readonly string[] {
    const places = hiddenPlaces().filter((path) => !isTaken(path));
    return [
      ...['--bind', this.directory, INSIDE],
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

/**
 * Places that hold something, and that a program seldom looks into for no reason. Their names are no secret. (The C library
 * looks for sockets in `/run` and `/var/run`, and many programs for the number of processors in `/sys`.)
 */
function hiddenPlaces(): readonly string[] {
  places ??= [
    ...namesIn('/')
      .filter((name) => !LOOKED_INTO.has(name))
      .map((name) => `/${name}`),
    ...['lib', 'log', 'mail', 'opt', 'spool', 'www'].map((name) => `/var/${name}`),
  ].filter((path) => entryStat(path)?.isDirectory() === true && namesIn(path).length > 0);
  return places;
}

let places: readonly string[] | undefined;

const LOOKED_INTO: ReadonlySet<string> = new Set([
  ...['boot', 'dev', 'etc', 'lost+found', 'proc', 'run', 'snap', 'sys', 'tmp', 'usr', 'var'],
]);

/** What may not be read is not empty. */
function namesIn(directory: string): readonly string[] {
  try {
    return entryNames(directory);
  } catch {
    return ['?'];
  }
}
