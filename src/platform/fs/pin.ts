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
 * `pinned`: objects are held by descriptors and every step starts from one, so nothing can be swapped in between.
 * `verified`: the platform has no such descriptors; what was opened is compared afterwards, which narrows the
 * window but does not close it.
 */
export type PinStrength = 'pinned' | 'verified';

/** One object of the file system, held while it is looked at. */
export interface Pin {
  /** Reaches this very object in any system call; an entry of a pinned directory is `${at}/name`. */
  readonly at: string;
  /** The path by which the system knows it now: no links, no dots. */
  name(): string;
  stat(): Stats;
  /** A descriptor to read its bytes from; never waits for the other end of a pipe. The caller closes it. */
  openForReading(): number;
  close(): void;
}

export interface Pinner {
  readonly strength: PinStrength;
  /** Pins what lies at `path`: the link itself where the last part is one. Throws the system's error. */
  pin(path: string | Buffer): Pin;
  /** Pins a directory; `other` where something else (also a link) has that name. */
  pinDirectory(path: string): Pin | 'missing' | 'other';
}

/**
 * The strongest pinner this machine has (D049).
 * @throws ToolError `config_invalid` on Linux without /proc: there the weaker way would be an avoidable one.
 */
export function openPinner(): Pinner {
  if (process.platform !== 'linux') return verifiedPinner;
  if (existsSync('/proc/self/fd')) return descriptorPinner;
  throw new ToolError(
    'config_invalid',
    'Cannot contain files: /proc is not mounted. Mount it, or run where it is available.',
  );
}

// Node does not export it. Such a descriptor names an object without opening it: no device wakes up, no FIFO blocks.
const O_PATH = 0o10000000;
const PIN = O_PATH | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Linux: descriptors, and the names that /proc/self/fd has for them. */
export const descriptorPinner: Pinner = {
  strength: 'pinned',
  pin: (path) => new DescriptorPin(openSync(path, PIN)),
  pinDirectory(path) {
    let pin: DescriptorPin;
    try {
      pin = new DescriptorPin(openSync(path, PIN));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return 'missing';
      throw error;
    }
    // Asked of what is held, not of the path; O_DIRECTORY would cost an exception for each link that is met.
    if (pin.stat().isDirectory()) return pin;
    pin.close();
    return 'other';
  },
};

class DescriptorPin implements Pin {
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
export const verifiedPinner: Pinner = {
  strength: 'verified',
  // Where there are no descriptors to pin by, names are text.
  pin: (path) => new VerifiedPin(path.toString(), lstatSync(path)),
  pinDirectory(path) {
    try {
      const stat = lstatSync(path);
      return stat.isDirectory() ? new VerifiedPin(path, stat) : 'other';
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return 'missing';
      if (errno === 'ENOTDIR' || errno === 'ELOOP') return 'other';
      throw error;
    }
  },
};

class VerifiedPin implements Pin {
  private readonly firstName: string;

  constructor(
    readonly at: string,
    private readonly seen: Stats,
  ) {
    this.firstName = this.name();
  }

  // Only the parent: the last part may be a link, and it is the link that is pinned.
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
