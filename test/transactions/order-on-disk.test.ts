import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { builtCommand } from '../cli/built-command.js';
import { whyNoTransactions } from './kept-apart.js';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const WHY_NOT = canTrace ? await whyNoTransactions() : ' (not watched: strace may not trace here)';
const folders: string[] = [];
afterAll(() => folders.forEach(removeTree));

function temporary(parent: string): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'toolexec-order-')));
  folders.push(folder);
  return folder;
}

/**
 * The syncs and the new names of a call that changes a file, in words and in order, from the first sync of its layers.
 */
function orderOf(parent: string): readonly string[] {
  const around = temporary(tmpdir());
  const root = join(temporary(parent), 'root');
  mkdirSync(root);
  const dist = pathToFileURL(dirname(dirname(builtCommand()))).href;
  const journal = join(around, 'journal.db');
  const call = { name: 'bash', args: { command: 'echo x >new.txt' } };
  const trace = join(around, 'trace');
  const { status, stderr } = spawnSync(
    'strace',
    [
      ...['-f', '-y', '-qq', '-s', '300', '--seccomp-bpf', '-o', trace],
      ...['-e', 'trace=sync,syncfs,fsync,fdatasync,rename,link', process.execPath],
      ...[join(import.meta.dirname, 'change-and-tell.mjs'), JSON.stringify({ dist, root, journal, call })],
    ],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  const placeOf = (path: string): string =>
    path === root ? 'the root' : /\/transaction-[^/]*$/.test(path) ? 'the transaction' : basename(path);
  const calls = readFileSync(trace, 'utf8').split('\n');
  const words = calls.flatMap((line) => {
    const [, synced] = /\b(?:syncfs|fsync|fdatasync)\(\d+<([^>]*)>/.exec(line) ?? [];
    if (synced !== undefined)
      return [`${line.includes('syncfs') ? 'file system of ' : ''}${placeOf(synced)}`];
    const [, to = ''] = /\b(?:rename|link)\("[^"]*", "([^"]*)"\) += 0/.exec(line) ?? [];
    return /\/(?:new\.txt|(?:plan|done)\.json)$/.test(to) ? [`name ${basename(to)}`] : [];
  });
  return words.slice(words.indexOf('file system of the transaction'));
}

const RECORDED = ['journal.db-wal'];

describe.skipIf(WHY_NOT !== '')(`the system calls of a commit${WHY_NOT}`, () => {
  it('sync the content, then the plan, and the changes before the result is recorded', () => {
    const order = orderOf(tmpdir());
    expect(order.slice(0, 6)).toEqual([
      ...['file system of the transaction', 'name plan.json', 'the transaction'],
      ...['name new.txt', 'done.json.new', 'name done.json'],
    ]);
    expect(order.slice(6)).toEqual(expect.arrayContaining(RECORDED));
  });

  it('sync the file system of the root as well, if it is another one', () => {
    const order = orderOf('/dev/shm');
    expect(order.slice(0, 8)).toEqual([
      // The new version is in the landing directory by then.
      ...['file system of the transaction', 'file system of the root'],
      ...['name plan.json', 'the transaction', 'name new.txt', 'file system of the root'],
      ...['done.json.new', 'name done.json'],
    ]);
    expect(order.slice(8)).toEqual(expect.arrayContaining(RECORDED));
  });
});
