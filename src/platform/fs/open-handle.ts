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
 * `pinned`: objects are kept open by descriptors and every step starts from one, so nothing can be swapped in
 * between. `verified`: the platform has no such descriptors; the opened object is compared afterwards, which
 * narrows the window without closing it.
 */
export type ContainmentStrength = 'pinned' | 'verified';

/** An open file system object. */
export interface Handle {
  /** A path to exactly this object for any system call; an entry of an open directory is `${at}/name`. */
  readonly at: string;
  /** Its current path according to the system, without links and dots. */
  name(): string;
  stat(): Stats;
  /** Opens a descriptor to read it; never waits for the other end of a pipe. The caller closes it. */
  openForReading(): number;
  close(): void;
}

export interface Opener {
  readonly strength: ContainmentStrength;
  /** Opens the entry at `path`; a link at the end is not followed. Throws the system's error. */
  open(path: string | Buffer): Handle;
  /** Opens a directory; `other` if another entry (also a link) has that name. */
  openDirectory(path: string): Handle | 'missing' | 'other';
  /** The place of a path in this process's view. If absent: the path itself. */
  reach?(path: string): string;
  /** Arguments before the command line of a program that works in an open directory. If absent: none. */
  readonly under?: readonly string[];
}

/** Another process's view of the file system. */
export interface FileView {
  /** The prefix of its paths: `/proc/PID/root`. */
  readonly root: string;
  /** A program, with arguments, that starts another one in that view. */
  readonly enter: readonly string[];
}

/**
 * The strongest opener of this machine (D049).
 * @throws ToolError `config_invalid` on Linux without /proc, where the weaker way could be avoided.
 */
export function chooseOpener(): Opener {
  if (process.platform !== 'linux') return verifiedOpener;
  if (existsSync('/proc/self/fd')) return descriptorOpener;
  throw new ToolError(
    'config_invalid',
    'Cannot contain files: /proc is not mounted. Mount it, or run where it is available.',
  );
}

// Node does not export it. Such a descriptor identifies an object without opening it: it wakes no device and
// blocks on no FIFO.
const O_PATH = 0o10000000;
const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Linux: descriptors and their names in /proc/self/fd. */
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
    // Checked on the descriptor, not the path; O_DIRECTORY would cost an exception for each link.
    if (handle.stat().isDirectory()) return handle;
    handle.close();
    return 'other';
  },
};

/** Linux: opens these paths in another process's view of the file system. */
export function openerIn({ root, enter }: FileView): Opener {
  const reach = (path: string): string => (path.startsWith(BY_DESCRIPTOR) ? path : `${root}${path}`);
  return {
    strength: descriptorOpener.strength,
    // A name as bytes is relative to an open directory.
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

// Windows has neither flag; there the comparison after opening is the only check.
const READ_VERIFIED = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** macOS, Windows: paths whose object and real name are compared again after opening. */
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

  // Only the parent: if the last part is a link, the link itself is open.
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
