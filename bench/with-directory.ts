import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PLACE = fileURLToPath(new URL('../.tmp', import.meta.url));

/** A directory on the disk of the repository (a system's own may be in memory), removed when `use` is done. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  mkdirSync(PLACE, { recursive: true });
  const directory = realpathSync(mkdtempSync(join(PLACE, 'bench-')));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
