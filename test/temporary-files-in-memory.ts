import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { freemem, release, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'toolexec-tests-';
/** A run fills a few hundred megabytes at most. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Keeps the temporary files of a run in memory, where root can mount such a file system: thousands of tests make and
 * remove folders and databases, and a disk takes milliseconds for each. A soak does not: it uses the disk.
 */
export default function keepInMemory(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !isPossible()) return undefined;
  removeLeftOver();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'toolexec-tests', folder]);
  if (status !== 0) {
    rmdirSync(folder);
    return undefined;
  }
  // The processes of the tests inherit it.
  process.env.TMPDIR = folder;
  return () => {
    delete process.env.TMPDIR;
    remove(folder);
  };
}

function isPossible(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || freemem() < NEEDED_BYTES) return false;
  // An older kernel has no overlays over files in memory, which the tests of transactions need.
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 6);
}

/** The remains of killed runs. */
function removeLeftOver(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const stats = lstatSync(join(tmpdir(), name), { throwIfNoEntry: false });
    // Any user may create a link with that name.
    if (stats?.isDirectory() && stats.uid === 0) remove(join(tmpdir(), name));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A process left by a test may still use it as its working directory, or create another folder there. */
function remove(folder: string): void {
  spawnSync('umount', ['--lazy', folder]);
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The next run tries again.
  }
}
