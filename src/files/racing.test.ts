import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ToolError } from '../errors/tool-error.js';
import { createSandbox } from './create-sandbox.js';
import { temporaryTree } from './fixtures/temporary-tree.js';

const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : undefined;
const READS = 3500;
const ROUNDS = 250;
/** On a busy machine fewer rounds are done. */
const PHASE_MS = 2000;

it('no read or write escapes while directories and files are swapped for links to the outside', {
  tags: ['soak'],
}, async () => {
  const { root, outside } = temporaryTree(
    {
      'd/secret.txt': 'inside',
      f: 'inside',
      '<outside>/secret.txt': 'OUTSIDE',
      '<outside>/only-outside': '',
    },
    MEMORY,
  );
  const { files } = createSandbox({ roots: [root] });
  const swapper = await startSwapping(root, outside);
  let escapes = 0;
  const seen = { inside: 0, refused: 0 };
  for (let index = 0, end = performance.now() + PHASE_MS; index < READS && performance.now() < end; index++) {
    const text = await attempt(seen, () => files.read(index % 2 === 0 ? 'd/secret.txt' : 'f'));
    if (text !== undefined && new TextDecoder().decode(text) === 'OUTSIDE') escapes++;
  }
  for (
    let index = 0, end = performance.now() + PHASE_MS;
    (index < ROUNDS && performance.now() < end) || (index < 10 * ROUNDS && !isRaced(seen));
    index++
  ) {
    const bytes = new TextEncoder().encode('inside');
    await attempt(seen, () => files.write(`d/new-${index % 50}.txt`, bytes, { mode: 'overwrite' }));
    await attempt(seen, () => files.write('f', bytes, { mode: 'overwrite' }));
    await attempt(seen, () =>
      files.writeAll([
        { path: `d/all-${index % 50}.txt`, bytes },
        { path: 'f', bytes },
      ]),
    );
    await attempt(seen, () => files.write(`d/made-${index % 50}/deep/x`, bytes, { mode: 'overwrite' }));
    await attempt(seen, () => files.remove('d/secret.txt'));
    await attempt(seen, () => files.write('d/secret.txt', bytes, { mode: 'overwrite' }));
    const entries = await attempt(seen, () => files.list('d'));
    if (entries?.some(({ name }) => name === 'only-outside') === true) escapes++;
  }
  expect(escapes).toBe(0);
  expect(readdirSync(outside).sort()).toEqual(['only-outside', 'secret.txt']);
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('OUTSIDE');
  // Otherwise there was no race.
  expect(swapper.exitCode).toBeNull();
  expect(isRaced(seen)).toBe(true);
});

function isRaced({ inside, refused }: { inside: number; refused: number }): boolean {
  return Math.min(inside, refused) > 10;
}

async function startSwapping(root: string, outside: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'fixtures', 'swap-forever.mjs'), [root, outside], {
    execArgv: [],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await once(child, 'message');
  return child;
}

async function attempt<Value>(
  seen: { inside: number; refused: number },
  operation: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    const value = await operation();
    seen.inside++;
    return value;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    seen.refused++;
    return undefined;
  }
}
