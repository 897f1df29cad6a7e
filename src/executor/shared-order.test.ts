import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { Executor } from '../contract/executor.js';
import type { Journal, Worker } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { openJournal } from '../journal/open-journal.js';
import { readProcess } from '../platform/process/proc-table.js';
import { workerOfThisProcess } from '../platform/process/worker-of-this-process.js';
import { batchEntry, callEntry, successOf } from '../testing/journal-entries.js';
import type { ExecutorOptions } from './executor-options.js';
import { executorOf, folder } from './fixtures/plan-fixture.js';
import { probeTool } from './fixtures/probe-tool.js';

const DEAD: Worker = { id: 'dead', pid: 2 ** 22 + 1, startedAt: 1 };
const ALIVE: Worker = { ...workerOfThisProcess(), id: 'another journal of this process' };
const IN_C = { conversation: 'c' };

/** Executors with one journal each over one file, like two processes, and the actions of their calls. */
function twoOver(path: string, roots: readonly string[] = [], options: ExecutorOptions = {}) {
  const log: string[] = [];
  const held = new Map<string, () => void>();
  const touch = probeTool(
    'touch',
    async ({ name, hold }) => {
      log.push(`${String(name)} begins`);
      if (hold === true) await new Promise<void>((resolve) => held.set(String(name), resolve));
      log.push(`${String(name)} ends`);
      return `did ${String(name)}`;
    },
    { effects: ({ effects }) => (effects ?? []) as unknown as Effect[] },
  );
  const open = (root: string | undefined): Executor =>
    executorOf([touch], {
      policy: null,
      approver: null,
      journal: path,
      ...(root === undefined ? {} : { root }),
      ...options,
    });
  const [first, second] = [open(roots[0]), open(roots[1])];
  const begun = (name: string): Promise<void> => expect.poll(() => held.has(name)).toBe(true);
  return { first, second, log, begun, release: (name: string) => held.get(name)?.() };
}

const touch = (name: string, args: JsonObject, ...effects: Effect[]) => ({
  id: name,
  name: 'touch',
  args: { name, effects: effects as never, ...args },
});
const write = (path: string): Effect => ({ kind: 'write', path });
const read = (path: string): Effect => ({ kind: 'read', path });
const soon = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 120, 'waits'));

function openFor(path: string): Journal {
  const journal = openJournal(path);
  onTestFinished(() => journal.close());
  return journal;
}

describe('calls of one conversation that two processes run over one journal', () => {
  it('never overlap where they conflict, and run in the order of acceptance', async () => {
    const root = folder();
    const path = join(folder(), 'journal.db');
    const { first, second, log, begun, release } = twoOver(path, [root, root]);
    const running = first.run([touch('a', { hold: true }, write('f'))], IN_C);
    await begun('a');
    const later = second.run([touch('b', {}, read('f'))], IN_C);
    const journal = openFor(path);
    await expect.poll(() => journal.find('c', 'b')).toBeDefined();
    const last = first.run([touch('c', {}, write('f'))], IN_C);
    expect(await Promise.race([later, last, soon()])).toBe('waits');
    release('a');
    const results = [await running, await later, await last].flat();
    expect(results.map(({ output }) => output)).toEqual(['did a', 'did b', 'did c']);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('do not wait where they do not conflict: other files, other roots, other conversations', async () => {
    const [one, other] = [folder(), folder()];
    const { first, second, begun, release } = twoOver(join(folder(), 'journal.db'), [one, other]);
    const running = first.run([touch('a', { hold: true }, write('f'))], IN_C);
    await begun('a');
    // The same name below another root is a different file.
    expect((await second.run([touch('b', {}, write('f'))], IN_C))[0]?.success).toBe(true);
    expect((await second.run([touch('c', {}, write('g'))], IN_C))[0]?.success).toBe(true);
    expect((await second.run([touch('d', {}, { kind: 'unknown' })], { conversation: 'e' }))[0]?.success).toBe(
      true,
    );
    release('a');
    expect((await running)[0]?.success).toBe(true);
  });

  it('stop waiting when they are stopped, and have not run then', async () => {
    const root = folder();
    const { first, second, log, begun, release } = twoOver(join(folder(), 'journal.db'), [root, root]);
    const running = first.run([touch('a', { hold: true }, write('f'))], IN_C);
    await begun('a');
    const stop = new AbortController();
    const later = second.run([touch('b', {}, write('f'))], { ...IN_C, signal: stop.signal });
    await soon();
    stop.abort();
    expect((await later)[0]?.error).toMatchObject({ code: 'cancelled', details: { executed: 'no' } });
    release('a');
    await running;
    expect(log).toEqual(['a begins', 'a ends']);
  });

  it('do not wait for a batch that waits for approval; once approved, it waits for what runs', async () => {
    const root = folder();
    const path = join(folder(), 'journal.db');
    const { first, second, log, begun, release } = twoOver(path, [root, root], {
      policy: { promptSideEffects: true },
      approver: () => ({ kind: 'approve_all' }),
    });
    await first.run([touch('later', {}, write('f'))], { ...IN_C, defer: true });
    const [waiting] = await second.waiting();
    const running = second.run([touch('b', { hold: true }, write('f'))], IN_C);
    await begun('b');
    const approved = (await first.approve(waiting?.batchId ?? '')).results;
    expect(await Promise.race([approved, soon()])).toBe('waits');
    release('b');
    await running;
    expect((await approved)[0]?.success).toBe(true);
    expect(log).toEqual(['b begins', 'b ends', 'later begins', 'later ends']);
  });

  it('do not wait for a process that has died since: its call is recovered first', async () => {
    const path = join(folder(), 'journal.db');
    const { first } = twoOver(path);
    await first.run([touch('a', {})], IN_C);
    const other = openFor(path);
    await other.accept(batchEntry('left', [callEntry('x')], { worker: DEAD, attach: true, ...IN_C }));
    await other.claim('left/0', DEAD, 1);
    expect((await first.run([touch('b', {}, { kind: 'unknown' })], IN_C))[0]?.success).toBe(true);
    expect((await other.call('left/0'))?.result?.error?.code).toBe('outcome_unknown');
  });

  it('a call of the process that started this one is not waited for, which would wait for itself', async () => {
    const path = join(folder(), 'journal.db');
    const { first } = twoOver(path);
    const { system } = ALIVE;
    const startTicks = readProcess(process.ppid)?.startTicks ?? 0;
    const parent = { id: 'parent', pid: process.ppid, startedAt: 1, startTicks, ...(system && { system }) };
    const other = openFor(path);
    await other.accept(batchEntry('its', [callEntry('x')], { worker: parent, attach: true, ...IN_C }));
    await other.claim('its/0', parent, 1);
    expect((await first.run([touch('b', {}, { kind: 'unknown' })], IN_C))[0]?.success).toBe(true);
    expect((await other.call('its/0'))?.state).not.toBe('done');
  });

  it('wait for a call whose places are not known', async () => {
    const path = join(folder(), 'journal.db');
    const { first } = twoOver(path);
    const other = openFor(path);
    await other.accept(batchEntry('old', [callEntry('x')], { worker: ALIVE, attach: true, ...IN_C }));
    const later = first.run([touch('b', {}, write('another'))], IN_C);
    expect(await Promise.race([later, soon()])).toBe('waits');
    await other.finish('old/0', successOf('x'), 2, 'queued');
    expect((await later)[0]?.success).toBe(true);
  });
});

describe('executors of one process over one open journal', () => {
  it('have one queue for a conversation', async () => {
    const root = folder();
    mkdirSync(join(root, 'd'));
    const journal = openFor(join(folder(), 'journal.db'));
    const { first, second, log, begun, release } = twoOver('', [root, root], { journal });
    const running = first.run([touch('a', { hold: true }, write('d/f'))], IN_C);
    await begun('a');
    const later = second.run([touch('b', {}, write('d'))], IN_C);
    expect(await Promise.race([later, soon()])).toBe('waits');
    release('a');
    await Promise.all([running, later]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });
});
