import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A small separate disk with a file system. */
export interface LoopDisk {
  /** Where it is mounted. */
  readonly at: string;
  /** Flushes everything that programs have written so far. */
  sync(): void;
  /** A second disk with the current content of this one, as after a loss of power; returns its mount point. */
  afterPowerLoss(): string;
}

export interface LoopDisks {
  /** Why no disk can be created here; undefined if one can. */
  readonly noDisk: string | undefined;
  make(): LoopDisk;
}

/** The disks are unmounted and removed after the tests of the file. */
export function useDisks(): LoopDisks {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-disks-')));
  const mounted: string[] = [];
  afterAll(() => {
    // A sandbox that is still ending may have the disk in its own list of mounts.
    for (const place of mounted.toReversed()) spawnSync('umount', ['--lazy', place]);
    rmSync(folder, { recursive: true, force: true });
  });
  let made = 0;
  const next = (name: string): string => join(folder, `${name}-${made++}`);
  const mount = (image: string): string => {
    const at = next('mounted');
    mkdirSync(at);
    run('mount', '-o', 'loop', image, at);
    mounted.push(at);
    return at;
  };
  const make = (): LoopDisk => {
    const image = next('disk');
    writeFileSync(image, '');
    truncateSync(image, 32 * 1024 * 1024);
    run('mkfs.ext4', '-q', '-F', image);
    const at = mount(image);
    return {
      at,
      sync: () => run('sync', '-f', at),
      afterPowerLoss() {
        const copy = next('copy');
        copyFileSync(image, copy);
        return mount(copy);
      },
    };
  };
  return { noDisk: whyNot(make), make };
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

function run(name: string, ...args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(name, args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${name} is not installed`);
  if (status !== 0) throw new Error(`${name} failed: ${stderr.trim()}`);
}
