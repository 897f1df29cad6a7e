import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Large packages are downloaded only in a whole soak: `npm run soak`. */
export function whyNoDownloads(): string | undefined {
  return process.env.TOOLEXEC_DOWNLOADS === 'off'
    ? 'TOOLEXEC_DOWNLOADS=off: a whole soak fetches it'
    : undefined;
}

/**
 * The files of a published package, without its dependencies, in a folder that must not exist yet.
 * @param name with its version
 * @returns whether the registry could be reached
 */
export function unpackPublished(name: string, place: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-published-'));
  try {
    const packed = spawnSync('npm', ['pack', name, '--silent'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 180_000,
    });
    const archive = packed.stdout?.trim().split('\n').at(-1) ?? '';
    if (packed.status !== 0 || archive === '') return false;
    mkdirSync(place, { recursive: true });
    execFileSync('tar', ['xzf', join(folder, archive), '-C', place, '--strip-components=1']);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
