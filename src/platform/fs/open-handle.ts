import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from './fs-entry.js';

/**
 * `pinned`: objects are kept open by descriptors and every step starts from one, so nothing can be swapped in between.
 * `verified`: the platform has no such descriptors; what was opened is compared afterwards, which narrows the
 * window but does not close it.
 */
export type ContainmentStrength = 'pinned' | 'verified';

/** One object of the file system, open while it is looked at. */
export interface Handle {
  /** Reaches this very object in any system call; an entry of an open directory is `${at}/name`. */
  readonly at: string;
  /** The path by which the system knows it now: no links, no dots. */
  name(): string;
  stat(): Stats;
  /** A descriptor to read its bytes from; never waits for the other end of a pipe. The caller closes it. */
  openForReading(): number;
  close(): void;
}

export interface Opener {
  readonly strength: ContainmentStrength;
  /** Opens what lies at `path`: the link itself where the last part is one. Throws the system's error. */
  open(path: string | Buffer): Handle;
  /** Opens a directory; `other` where something else (also a link) has that name. */
  openDirectory(path: string): Handle | 'missing' | 'other';
  /** Where to look for what this opener opens under a path. Left out: there. */
  reach?(path: string): string;
  /** What stands before the command line of a program that works in what is open. Left out: nothing. */
  readonly under?: readonly string[];
}

/** What another process sees of the file system. */
export interface FileView {
  /** Before the paths that it sees: `/proc/PID/root`. */
  readonly root: string;
  /** A program that starts another one in it, with its arguments. */
  readonly enter: readonly string[];
}

/**
 * The strongest opener this machine has (D049).
 * @throws ToolError `config_invalid` on Linux without /proc: there the weaker way would be an avoidable one.
 */
export function chooseOpener(): Opener {
  if (process.platform !== 'linux') return verifiedOpener;
  if (existsSync('/proc/self/fd')) return descriptorOpener;
  throw new ToolError(
    'config_invalid',
    'Cannot contain files: /proc is not mounted. Mount it, or run where it is available.',
  );
}

// Node does not export it. Such a descriptor names an object without opening it: no device wakes up, no FIFO blocks.
const O_PATH = 0o10000000;
const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Linux: descriptors, and the names that /proc/self/fd has for them. */
export const descriptorOpener: Opener = {
  strength: 'pinned',
  open: (path) => new DescriptorHandle(openSync(path, NAME_ONLY)),
  openDirectory(path) {
    let handle: DescriptorHandle;
    try {
      handle = new DescriptorHandle(openSync(path, NAME_ONLY));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return 'missing';
      throw error;
    }
    // Asked of the descriptor, not of the path; O_DIRECTORY would cost an exception for each link that is met.
    if (handle.stat().isDirectory()) return handle;
    handle.close();
    return 'other';
  },
};

/** Linux: opens what another process sees in the place of these paths, in a view of the file system of its own. */
export function openerIn({ root, enter }: FileView): Opener {
  const reach = (path: string): string => (path.startsWith(BY_DESCRIPTOR) ? path : `${root}${path}`);
  return {
    strength: descriptorOpener.strength,
    // Bytes are of a name below an open directory.
    open: (path) => descriptorOpener.open(typeof path === 'string' ? reach(path) : path),
    openDirectory: (path) => descriptorOpener.openDirectory(reach(path)),
    reach,
    under: enter,
  };
}

const BY_DESCRIPTOR = '/proc/self/fd/';

class DescriptorHandle implements Handle {
  readonly at: string;

  constructor(private readonly descriptor: number) {
    this.at = `/proc/self/fd/${descriptor}`;
  }

  name(): string {
    return readlinkSync(this.at);
  }

  stat(): Stats {
    return fstatSync(this.descriptor);
  }

  openForReading(): number {
    return openSync(this.at, READ);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

// Windows has neither of the two; there the comparison after opening is all there is.
const READ_VERIFIED = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** macOS, Windows: paths, whose object and real name are compared once more after opening. */
export const verifiedOpener: Opener = {
  strength: 'verified',
  // Without such descriptors, names are text.
  open: (path) => new VerifiedHandle(path.toString(), lstatSync(path)),
  openDirectory(path) {
    try {
      const stat = lstatSync(path);
      return stat.isDirectory() ? new VerifiedHandle(path, stat) : 'other';
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return 'missing';
      if (errno === 'ENOTDIR' || errno === 'ELOOP') return 'other';
      throw error;
    }
  },
};

class VerifiedHandle implements Handle {
  private readonly firstName: string;

  constructor(
    readonly at: string,
    private readonly seen: Stats,
  ) {
    this.firstName = this.name();
  }

  // Only the parent: the last part may be a link, and it is the link that is open.
  name(): string {
    return join(realpathSync.native(dirname(this.at)), basename(this.at));
  }

  stat(): Stats {
    return this.seen;
  }

  openForReading(): number {
    const descriptor = openSync(this.at, READ_VERIFIED);
    const opened = fstatSync(descriptor);
    if (opened.ino === this.seen.ino && opened.dev === this.seen.dev && this.name() === this.firstName) {
      return descriptor;
    }
    closeSync(descriptor);
    throw Object.assign(new Error('the file was replaced while it was being opened'), { code: 'ESTALE' });
  }

  close(): void {}
}
