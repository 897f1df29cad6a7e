import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small separate disk with a file system. */
export interface LoopDisk {
  /** Where it is mounted. */
  readonly at: string;
  /** Flushes everything that programs have written so far. */
  sync(): void;
  /** Writes the names of all files without their contents, as the file system itself does from time to time. */
  syncNames(): void;
  /** A second disk with the current content of this one, as after a loss of power; returns its mount point. */
  afterPowerLoss(): string;
  /** Copies the current content of the disk; returns the path of the copy. */
  image(): string;
  /** Restores such a copy at the same place, with the same numbers. No process may use the disk. */
  restore(image: string): void;
}

export interface LoopDisks {
  /** Why no disk can be created here; undefined if one can. */
  readonly noDisk: string | undefined;
  make(): LoopDisk;
  /** Unmounts and removes all of them. */
  remove(): void;
}

/** @param megabytes of each disk */
export function createDisks(megabytes = 32): LoopDisks {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-disks-')));
  const mounted: string[] = [];
  const remove = (): void => {
    // A sandbox that is still ending may have the disk in its own list of mounts.
    for (const place of mounted.toReversed()) spawnSync('umount', ['--lazy', place]);
    rmSync(folder, { recursive: true, force: true });
  };
  let made = 0;
  const next = (name: string): string => join(folder, `${name}-${made++}`);
  const mount = (image: string): string => {
    const at = next('mounted');
    mkdirSync(at);
    run('mount', '-o', 'loop', image, at);
    mounted.push(at);
    return at;
  };
  const copyOf = (image: string): string => {
    const copy = next('copy');
    copyFileSync(image, copy);
    return copy;
  };
  const make = (): LoopDisk => {
    const image = next('disk');
    writeFileSync(image, '');
    truncateSync(image, megabytes * 1024 * 1024);
    run('mkfs.ext4', '-q', '-F', image);
    const at = mount(image);
    return {
      at,
      sync: () => run('sync', '-f', at),
      syncNames: () => writeFileSync(join(at, 'written-at-once'), '', { flush: true }),
      afterPowerLoss: () => mount(copyOf(image)),
      image: () => copyOf(image),
      restore(was) {
        const device = run('findmnt', '-n', '-o', 'SOURCE', at).trim();
        // Open, it keeps its number.
        const held = openSync(device, 'r');
        unmount(at);
        waitUntilFree(device);
        run('dd', `if=${was}`, `of=${device}`, 'bs=4M', 'conv=fsync');
        run('mount', device, at);
        closeSync(held);
      },
    };
  };
  return { noDisk: whyNot(make), make, remove };
}

function whyNot(make: () => LoopDisk): string | undefined {
  if (process.platform !== 'linux') return 'loop devices are of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount';
  try {
    make();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A process that has just been killed may use it for some milliseconds. */
export function unmount(at: string): void {
  patiently(() => run('umount', at));
}

/** A sandbox that another program starts has a copy of all mounts for a moment. */
function waitUntilFree(device: string): void {
  patiently(() => closeSync(openSync(device, constants.O_RDWR | constants.O_EXCL)));
}

function patiently(attempt: () => void): void {
  for (let tries = 0; ; tries++) {
    try {
      attempt();
      return;
    } catch (error) {
      if (tries === 400) throw error;
      run('sleep', '0.05');
    }
  }
}

function run(name: string, ...args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${name} is not installed`);
  if (status !== 0) throw new Error(`${name} failed: ${stderr.trim()}`);
  return stdout;
}
