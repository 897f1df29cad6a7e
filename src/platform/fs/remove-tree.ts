import { chmodSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { binaryEntry, binaryNames, toBinary } from './binary-fs.js';

/** Removes a directory with all that is in it, also where a directory in it is closed to us. Never throws. */
export function removeTree(path: string): void {
  try {
    rmSync(path, HOW);
  } catch {
    try {
      openUp(toBinary(path));
      rmSync(path, HOW);
    } catch {
      // It is not ours to remove.
    }
  }
}

/** The same beside the event loop. Never rejects. */
export async function removeTreeLater(path: string): Promise<void> {
  try {
    await rm(path, { ...HOW, maxRetries: 3 });
  } catch {
    removeTree(path);
  }
}

const HOW = { recursive: true, force: true } as const;

/** An overlay closes a directory of its own, and a command any that it likes. No link is followed. */
function openUp(path: string): void {
  const at = Buffer.from(path, 'latin1');
  chmodSync(at, 0o700);
  for (const name of binaryNames(path)) {
    if (binaryEntry(`${path}/${name}`)?.kind === 'dir') openUp(`${path}/${name}`);
  }
}
