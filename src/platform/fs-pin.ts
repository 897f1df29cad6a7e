import { existsSync, type Stats } from 'node:fs';
import { ToolError } from '../errors/tool-error.js';
import { descriptorPinner } from './fs-pin-descriptor.js';
import { verifiedPinner } from './fs-pin-verified.js';

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
