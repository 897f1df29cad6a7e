import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { verifyJournal } from '../../src/journal/verify-journal.js';
import { workerOfThisProcess } from '../../src/platform/process/worker-of-this-process.js';
import { batchEntry, callEntry } from '../../src/testing/journal-entries.js';
import { buildFirst, builtCommand } from '../cli/built-command.js';
import { call, executorFor, newDesk, runUntilKilled, startKilledRun } from './killed-run.js';

buildFirst();

/** In a separate PID namespace, and not as its first process, which could not end itself. */
const CONTAINED = ['unshare', '-rpf', '--mount-proc', 'sh', '-c', '"$@"; exit $?', 'sh'];
const canContain = spawnSync(CONTAINED[0] ?? '', [...CONTAINED.slice(1), 'true']).status === 0;

describe.skipIf(!canContain)('a process of another container (skipped where none can be made)', () => {
  it('is recovered once it is dead, by the process that takes its place', async () => {
    const { root, journal } = newDesk();
    const file = join(root, '..', 'sent');
    const calls = [call('send', { file }), call('note', { text: 'x' })];
    await runUntilKilled({ root, journal, calls, conversation: 'c', at: 'never never', under: CONTAINED });
    const [batch] = await executorFor({ root, journal }).recover();
    expect(batch?.calls.map(({ result }) => result?.error?.code)).toEqual(['outcome_unknown', 'cancelled']);
    expect(verifyJournal(journal)).toMatchObject({ intact: true });
  });

  it('is left alone while it lives', async () => {
    const { root, journal } = newDesk();
    const file = join(root, '..', 'sent');
    const calls = [call('send', { file, hang: true })];
    const child = startKilledRun({
      root,
      journal,
      calls,
      conversation: 'c',
      at: 'never never',
      under: ['unshare', '-rpf', '--kill-child', ...CONTAINED.slice(2)],
    });
    await expect.poll(() => existsSync(file)).toBe(true);
    const executor = executorFor({ root, journal });
    expect(await executor.recover()).toEqual([]);
    child.kill('SIGKILL');
    await expect
      .poll(async () => (await executor.recover())[0]?.calls[0]?.result?.error?.code)
      .toBe('outcome_unknown');
    expect(readFileSync(file, 'utf8')).toBe('sent\n');
  });
});

/** Another process that has the journal open, with a call of a process that is invisible from here. */
const KEEPER = `
const { door, path, batch, worker } = JSON.parse(process.argv[1]);
const { openJournal } = await import(door);
const journal = openJournal(path);
const [{ key }] = await journal.accept(batch);
await journal.claim(key, worker, 1);
console.log(await journal.isAlone());
// Without this reference the garbage collector would close the file.
process.stdin.resume().once('end', () => journal.close());
`;

describe('a process that cannot be seen', () => {
  const system = `${workerOfThisProcess().system?.split(' ')[0]} pid:[1]`;
  const worker = { id: 'hidden', pid: 1, startedAt: 1, system };

  it('counts as alive as long as anybody else has the journal open', async () => {
    const { root, journal: path } = newDesk();
    const door = pathToFileURL(join(dirname(dirname(builtCommand())), 'index.js')).href;
    const batch = batchEntry('b1', [callEntry('x', { path: 1 })], { worker });
    const order = JSON.stringify({ door, path, batch, worker });
    const keeper = spawn(process.execPath, ['--input-type=module', '-e', KEEPER, order]);
    const [said] = (await once(keeper.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('true\n');
    const executor = executorFor({ root, journal: path });
    expect(await executor.recover()).toEqual([]);
    keeper.kill('SIGKILL');
    await once(keeper, 'close');
    expect((await executor.recover())[0]?.calls[0]?.result?.error?.code).toBe('outcome_unknown');
    // The file continues to work as before.
    const [result] = await executor.run([call('write_file', { path: 'f', content: 'x' })]);
    expect(result?.success).toBe(true);
    await executor.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});
