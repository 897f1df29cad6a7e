import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface Battlefield {
  readonly root: string;
  readonly outside: string;
  /** The number of changes outside since the last call; reverts them. */
  breaches(): number;
  /** How often an entry has been replaced by another so far. */
  swaps(): Promise<number>;
}

export const SECRET = 'OUTSIDE';

/** Files of a root that another process keeps swapping for links to the outside, for as long as the test runs. */
export async function openBattlefield(): Promise<Battlefield> {
  // Where syncing is cheap, more races happen in the same time.
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const base = realpathSync(mkdtempSync(join(parent, 'toolexec-race-')));
  const root = join(base, 'root');
  const outside = join(base, 'outside');
  for (const directory of ['d', 'deep/e']) mkdirSync(join(root, directory), { recursive: true });
  for (const file of ['f', 'd/secret.txt', 'deep/e/secret.txt']) writeFileSync(join(root, file), 'A\n');
  symlinkSync('d', join(root, 'l'));
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), SECRET);
  const swapper = fork(join(import.meta.dirname, 'swap-forever.mjs'), [root, outside], { execArgv: [] });
  onTestFinished(async () => {
    if (swapper.exitCode === null) {
      swapper.kill('SIGKILL');
      await once(swapper, 'exit');
    }
    rmSync(base, { recursive: true, force: true });
  });
  await once(swapper, 'message');
  return {
    root,
    outside,
    breaches: () => countBreaches(outside),
    swaps: () => countSwaps(swapper),
  };
}

function countBreaches(outside: string): number {
  const strangers = readdirSync(outside).filter((name) => name !== 'secret.txt');
  for (const name of strangers) rmSync(join(outside, name), { recursive: true, force: true });
  const secret = join(outside, 'secret.txt');
  const isIntact = existsSync(secret) && readFileSync(secret, 'utf8') === SECRET;
  if (!isIntact) writeFileSync(secret, SECRET);
  return strangers.length + (isIntact ? 0 : 1);
}

// A dead swapper swaps nothing: then this rejects.
async function countSwaps(swapper: ChildProcess): Promise<number> {
  if (swapper.exitCode !== null) throw new Error(`the swapper has ended with code ${swapper.exitCode}`);
  const answer = once(swapper, 'message');
  swapper.send('how many');
  const [{ swaps }] = (await answer) as [{ swaps: number }];
  return swaps;
}
