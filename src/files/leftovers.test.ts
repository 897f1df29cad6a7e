import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { chooseOpener } from '../platform/fs/open-handle.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { createSandbox } from './create-sandbox.js';
import { DirectoryLocks, LOCK_NAME } from './directory-locks.js';
import { errorOf } from './fixtures/error-of.js';
import { HeldTime } from './fixtures/held-time.js';
import { temporaryTree } from './fixtures/temporary-tree.js';
import { temporaryName } from './temporary-name.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const hash = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';

const LEAVE_BEHIND = bundleProgram(join(import.meta.dirname, 'fixtures', 'leave-behind.mjs'));

async function leaveBehind(directory: string): Promise<void> {
  const child = spawn(process.execPath, [LEAVE_BEHIND, directory], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(readdirSync(directory)).toContain(LOCK_NAME);
}

const ours = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('.toolexec-'));

describe('what a process leaves behind that is killed in the middle of a write', () => {
  it('blocks nobody: its lock is taken over at once, and its new content goes', async () => {
    const { root } = temporaryTree({ a: 'a' });
    await leaveBehind(root);
    const started = performance.now();
    await createSandbox({ roots: [root] }).files.writeAll([
      { path: 'a', bytes: bytes('A'), expectedSha256: hash },
    ]);
    expect(performance.now() - started).toBeLessThan(2500);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('A');
    // The backup is the only copy of the replaced file, and stays for a while.
    const [backup = '', ...more] = ours(root);
    expect(more).toEqual([]);
    expect(readFileSync(join(root, backup), 'utf8')).toBe('old content');
  });

  it('keeps the old content for a week, by the time of its making', async () => {
    const { root } = temporaryTree({ a: 'a' });
    await leaveBehind(root);
    const write = (name: string) =>
      createSandbox({ roots: [root] }).files.write(name, bytes(''), { mode: 'create' });
    const day = 86_400_000;
    const made = Date.now();
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(made + 6.9 * day);
      await write('b');
      expect(ours(root)).toHaveLength(1);
      vi.setSystemTime(made + 7.1 * day);
      await write('c');
      expect(ours(root)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes with a mere creation too', async () => {
    const { root } = temporaryTree({ 'd/': '' });
    await leaveBehind(join(root, 'd'));
    await createSandbox({ roots: [root] }).files.write('d/new', bytes(''), { mode: 'create' });
    expect(ours(join(root, 'd'))).toHaveLength(1);
  });

  it('is neither listed nor read nor written', async () => {
    const { root } = temporaryTree({ a: 'a' });
    await leaveBehind(root);
    const { files, resolve } = createSandbox({ roots: [root], includeDefaultDenies: false });
    expect(await files.list('.')).toEqual([{ name: 'a', type: 'file' }]);
    for (const name of ours(root)) {
      expect(await errorOf(() => files.read(name))).toMatchObject({ code: 'sandbox_violation' });
      expect(await errorOf(() => files.write(name, bytes(''), { mode: 'overwrite' }))).toMatchObject({
        code: 'sandbox_violation',
      });
      expect(await errorOf(() => resolve(name))).toMatchObject({ code: 'sandbox_violation' });
    }
  });
});

describe('what a process that runs has put beside a file', () => {
  it('stays, whoever writes there', async () => {
    const { root } = temporaryTree({ a: 'a' });
    const names = [temporaryName(), temporaryName('backup'), '.toolexec-notes.tmp', '.toolexec-a0.tmp'];
    for (const name of names) writeFileSync(join(root, name), 'x');
    await createSandbox({ roots: [root] }).files.write('b', bytes(''), { mode: 'create' });
    expect(ours(root)).toEqual(names.sort());
  });

  it('is a lock that is waited for, however long it holds it', async () => {
    const { root } = temporaryTree({ a: 'a' });
    const handle = chooseOpener().openDirectory(root);
    if (typeof handle !== 'object') throw new Error('no directory');
    const locks = new DirectoryLocks(undefined);
    locks.take(handle);
    const time = new HeldTime();
    const written = createSandbox({ roots: [root] }).files.write('a', bytes('A'), { mode: 'overwrite' });
    for (const _ of [1, 2, 3, 4]) await time.pass(3000);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a');
    locks.release();
    await written;
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('A');
    handle.close();
    expect(existsSync(join(root, LOCK_NAME))).toBe(false);
  });

  it('proves nothing to a process that cannot look its owner up: after a time the lock is taken over', async () => {
    const { root } = temporaryTree({ a: 'a' });
    writeFileSync(join(root, LOCK_NAME), `${'f'.repeat(24)}\n`);
    const time = new HeldTime();
    const written = createSandbox({ roots: [root] }).files.write('a', bytes('A'), { mode: 'overwrite' });
    await time.pass(2900);
    expect(readdirSync(root)).toContain(LOCK_NAME);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a');
    await time.passUntil(written);
    expect(readdirSync(root)).toEqual(['a']);
  });
});
