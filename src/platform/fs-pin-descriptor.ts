import { closeSync, constants, fstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { errnoOf } from './fs-errno.js';
import type { Pin, Pinner } from './fs-pin.js';

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
