import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from './fs-errno.js';
import type { Pin, Pinner } from './fs-pin.js';

// Windows has neither of the two; there the comparison after opening is all there is.
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

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
    const descriptor = openSync(this.at, READ);
    const opened = fstatSync(descriptor);
    if (opened.ino === this.seen.ino && opened.dev === this.seen.dev && this.name() === this.firstName) {
      return descriptor;
    }
    closeSync(descriptor);
    throw Object.assign(new Error('the file was replaced while it was being opened'), { code: 'ESTALE' });
  }

  close(): void {}
}
