import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Approver } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import type { Journal } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { createMemoryJournal } from '../../journal/memory/memory-journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { verifyJournal } from '../../journal/verify-journal.js';
import { filesRead, sha256Of } from '../../tools/files-read.js';
import { builtinTools } from '../builtin-tools.js';
import type { ExecutorOptions } from '../executor-options.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';
import { runProgram } from '../fixtures/run-program.js';
import { ConversationMemories, recordReads, recordShown } from './conversation-memories.js';

interface Desk {
  readonly root: string;
  readonly journal: string;
  /** Acts as another process of conversation `c`: a second executor with a second journal. */
  process(options?: ExecutorOptions): Worker;
  put(name: string, content: string): void;
  text(name: string): string;
}

interface Worker {
  readonly executor: Executor;
  call(name: string, args: JsonObject, conversation?: string): Promise<ToolResult>;
}

function desk(): Desk {
  const place = folder();
  const root = join(place, 'root');
  const journal = join(place, 'journal.db');
  mkdirSync(root);
  return {
    root,
    journal,
    process(options = { approver: null, policy: null }) {
      const executor = executorOf(builtinTools(), { root, journal, ...options });
      return {
        executor,
        call: (name, args, conversation = 'c') => executor.execute(name, args, { conversation }),
      };
    },
    put: (name, content) => writeFileSync(join(root, name), content),
    text: (name) => readFileSync(join(root, name), 'utf8'),
  };
}

const codeOf = ({ success, error }: ToolResult): string => (success ? 'ok' : error.code);
const EDIT = { path: 'f', old_string: 'mine', new_string: 'changed' };
const OVERWRITE = { path: 'f', content: 'all new', mode: 'overwrite' };
const LP1 = { patch: 'LP1\nF f\nR\nmine\n.\nchanged\n.\nEND\n' };
const BEGIN_PATCH = {
  patch: '*** Begin Patch\n*** Update File: f\n@@\n-mine\n+changed\n*** End Patch\n',
};
const UNIFIED = { patch: '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-mine\n+changed\n' };

describe('what a named conversation has read, in the journal', () => {
  it.each([
    ['write_file', OVERWRITE],
    ['edit_file', EDIT],
    ['apply_patch', LP1],
    ['apply_patch', BEGIN_PATCH],
    ['apply_patch', UNIFIED],
  ])('%s %j in a later process refuses a file that a person has changed since', async (name, args) => {
    const { process, put, text } = desk();
    put('f', 'mine\n');
    const first = process();
    expect(codeOf(await first.call('read_file', { path: 'f' }))).toBe('ok');
    await first.executor.close();
    put('f', 'mine\nand the person’s\n');
    const second = process();
    const refused = await second.call(name, args);
    expect(refused.error).toMatchObject({
      code: 'stale_file',
      details: { reason: 'File content changed since last read' },
    });
    expect(text('f')).toBe('mine\nand the person’s\n');
    await second.call('read_file', { path: 'f' });
    const third = process();
    expect(codeOf(await third.call(name, args === UNIFIED ? BEGIN_PATCH : args))).toBe('ok');
  });

  it.each([
    ['write_file', OVERWRITE, 'all new'],
    ['edit_file', EDIT, 'changed\n'],
    ['apply_patch', LP1, 'changed\n'],
  ])('%s in a later process changes what is as it was read', async (name, args, after) => {
    const { process, put, text } = desk();
    put('f', 'mine\n');
    await process().call('read_file', { path: 'f' });
    expect(codeOf(await process().call(name, args))).toBe('ok');
    expect(text('f')).toBe(after);
  });

  it('counts its own writes as read, across processes', async () => {
    const { process, put, text } = desk();
    await process().call('write_file', { path: 'f', content: 'mine\n' });
    expect(codeOf(await process().call('apply_patch', LP1))).toBe('ok');
    await process().call('edit_file', { path: 'f', old_string: 'changed', new_string: 'mine' });
    expect(codeOf(await process().call('apply_patch', LP1))).toBe('ok');
    await process().call('write_file', { path: 'f', content: 'more\n', mode: 'append' });
    put('f', `${text('f')}the person’s\n`);
    expect(codeOf(await process().call('edit_file', { ...EDIT, old_string: 'more' }))).toBe('stale_file');
  });

  it('sees what another process of the conversation reads while both are at work', async () => {
    const { process, put, text } = desk();
    put('f', 'mine\n');
    const [one, other] = [process(), process()];
    await one.call('read_file', { path: 'f' });
    await other.call('read_file', { path: 'f' });
    put('f', 'mine\nnew\n');
    expect(codeOf(await one.call('edit_file', EDIT))).toBe('stale_file');
    await other.call('read_file', { path: 'f' });
    expect(codeOf(await one.call('edit_file', EDIT))).toBe('ok');
    expect(codeOf(await other.call('edit_file', { ...EDIT, old_string: 'new' }))).toBe('ok');
    expect(text('f')).toBe('changed\nchanged\n');
  });

  it('is nothing to another conversation, and nothing that an unnamed one leaves behind', async () => {
    const { process, put, root, journal } = desk();
    put('f', 'mine\n');
    const first = process();
    await first.call('read_file', { path: 'f' });
    expect(codeOf(await process().call('apply_patch', LP1, 'other'))).toBe('stale_file');
    await first.executor.execute('read_file', { path: 'f' });
    expect(codeOf(await process().executor.execute('apply_patch', LP1))).toBe('stale_file');
    const second = executorOf(builtinTools(), { root, approver: null, policy: null, journal });
    await second.execute('read_file', { path: 'f' });
    expect(codeOf(await second.execute('apply_patch', LP1))).toBe('ok');
  });

  it('lets a deferred patch be approved in another process, and refuses what has changed by then', async () => {
    const { process, put, text } = desk();
    put('f', 'mine\n');
    const asking = { policy: { mode: 'prompt' } } as const;
    const defer = async (id: string, args: JsonObject): Promise<string> => {
      const first = process(asking);
      await first.call('read_file', { path: 'f' });
      const run = first.executor.start([{ id, name: 'apply_patch', args }], {
        conversation: 'c',
        defer: true,
      });
      expect((await run.results).map(codeOf)).toEqual(['approval_unavailable']);
      await first.executor.close();
      return run.id;
    };
    const approve = async (id: string, approver: Approver | null): Promise<string[]> => {
      const second = process({ approver, policy: null });
      const run = await second.executor.approve(id);
      return (await run.results).map(codeOf);
    };
    expect(await approve(await defer('p1', LP1), () => ({ kind: 'approve_all' }))).toEqual(['ok']);
    expect(text('f')).toBe('changed\n');
    const late = await defer('p2', { patch: 'LP1\nF f\nR\nchanged\n.\nmine\n.\nEND\n' });
    put('f', 'changed\nby the person\n');
    // Consent in advance does not cover a file that has changed since it was shown.
    expect(await approve(late, null)).toEqual(['approval_unavailable']);
    expect(text('f')).toBe('changed\nby the person\n');
  });

  it('keeps an undone file from being overwritten, in this process and the next', async () => {
    const { process, put, text } = desk();
    put('f', 'mine\n');
    put('gone', 'deleted\n');
    const first = process();
    await first.call('read_file', { path: 'f' });
    const calls = [
      { id: 'edit', name: 'edit_file', args: EDIT },
      {
        id: 'delete',
        name: 'apply_patch',
        args: { patch: '*** Begin Patch\n*** Delete File: gone\n*** End Patch' },
      },
    ];
    expect((await first.executor.run(calls, { conversation: 'c' })).map(codeOf)).toEqual(['ok', 'ok']);
    await first.executor.undo('edit');
    await first.executor.undo('delete');
    for (const each of [first, process()]) {
      expect(codeOf(await each.call('write_file', OVERWRITE))).toBe('stale_file');
      expect(codeOf(await each.call('edit_file', EDIT))).toBe('stale_file');
      expect(codeOf(await each.call('write_file', { ...OVERWRITE, path: 'gone' }))).toBe('stale_file');
    }
    expect([text('f'), text('gone')]).toEqual(['mine\n', 'deleted\n']);
    await first.call('read_file', { path: 'f' });
    expect(codeOf(await first.call('edit_file', EDIT))).toBe('ok');
  });

  it('knows a file that it deleted, and takes one that came back for changed', async () => {
    const { process, put, text } = desk();
    put('f', 'mine\n');
    await process().call('apply_patch', { patch: '*** Begin Patch\n*** Delete File: f\n*** End Patch' });
    const created = await process().call('write_file', { path: 'f', content: 'mine\n' });
    expect([codeOf(created), codeOf(await process().call('apply_patch', LP1))]).toEqual(['ok', 'ok']);
    await process().call('apply_patch', {
      patch: '*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch',
    });
    put('f', 'mine\n');
    expect(codeOf(await process().call('write_file', OVERWRITE))).toBe('stale_file');
    expect(
      codeOf(
        await process().call('edit_file', { ...EDIT, path: 'g', old_string: 'changed', new_string: 'x' }),
      ),
    ).toBe('ok');
    expect(text('f')).toBe('mine\n');
  });

  it('is available to the next process as soon as a result was delivered, even after SIGKILL', async () => {
    const { process: next, put, root, journal } = desk();
    put('f', 'mine\n');
    const { stdout } = await runProgram(`
      const executor = createExecutor({ root: ${JSON.stringify(root)}, approver: null, policy: null, journal: ${JSON.stringify(journal)} });
      const calls = [{ id: 'r', name: 'read_file', args: { path: 'f' } }];
      const [{ success }] = await executor.run(calls, { conversation: 'c' });
      process.stdout.write(String(success), () => process.kill(process.pid, 'SIGKILL'));
    `);
    expect(stdout).toBe('true');
    expect(codeOf(await next().call('apply_patch', LP1))).toBe('ok');
    put('f', 'mine\nagain\n');
    expect(codeOf(await next().call('edit_file', EDIT))).toBe('stale_file');
  });

  it('adds no transaction to a read, and is covered by the chain', async () => {
    const { process, put, journal } = desk();
    put('f', 'mine\n');
    const commits = async (act: (worker: Worker) => Promise<unknown>): Promise<number> => {
      const worker = process();
      await act(worker);
      await worker.executor.close();
      const verified = verifyJournal(journal);
      return verified.intact ? verified.commits : Number.NaN;
    };
    const first = await commits(({ call }) => call('list_directory', { path: '.' }));
    const second = await commits(({ call }) => call('list_directory', { path: '.' }));
    const third = await commits(({ call }) => call('read_file', { path: 'f' }));
    expect(third - second).toBe(second - first);
    const opened = openJournal(journal);
    const sha256 = sha256Of(Buffer.from('mine\n'));
    expect((await opened.recall?.('c'))?.facts).toMatchObject([
      { key: 'origin:workspace' },
      { value: { sha256 }, at: expect.any(Number) },
    ]);
    await opened.close();
  });

  it('stays in memory where a journal keeps no facts', async () => {
    const { root, put } = desk();
    put('f', 'mine\n');
    const journal: Journal = Object.assign(createMemoryJournal(), { remember: undefined, recall: undefined });
    const executor = executorOf(builtinTools(), { root, approver: null, policy: null, journal });
    await executor.execute('read_file', { path: 'f' }, { conversation: 'c' });
    expect(codeOf(await executor.execute('apply_patch', LP1, { conversation: 'c' }))).toBe('ok');
  });

  it('survives the conversations that push it out of memory', { tags: ['soak'] }, async () => {
    const { process, put, root } = desk();
    put('f', 'mine\n');
    const { executor, call } = process();
    await call('read_file', { path: 'f' });
    for (let index = 0; index < 1_001; index++) await executor.run([], { conversation: `c${index}` });
    expect(codeOf(await call('apply_patch', LP1))).toBe('ok');
    rmSync(root, { recursive: true });
  });
});

describe('ConversationMemories', () => {
  const clock = { now: () => 7 };
  const logger = () => ({ error: vi.fn() });
  const HASH = 'a'.repeat(64);

  it('records what was shown as read', async () => {
    const journal = createMemoryJournal();
    const memories = new ConversationMemories({ journal, clock, logger: logger() });
    recordShown(
      memories.of('c'),
      [
        { path: '/r/f', hash: HASH },
        { path: '/r/g', hash: 'b'.repeat(64) },
      ],
      5,
    );
    const later = new ConversationMemories({ journal, clock, logger: logger() }).of('c');
    await filesRead(later).refresh();
    expect([...filesRead(later)]).toEqual([
      ['/r/f', { sha256: HASH, at: 5 }],
      ['/r/g', { sha256: 'b'.repeat(64), at: 5 }],
    ]);
    const plain = new Map();
    recordShown(plain, [{ path: '/r/f', hash: HASH }], 5);
    expect(filesRead(plain).get('/r/f')).toEqual({ sha256: HASH, at: 5 });
  });

  it('never replaces its own record by an older one of the journal, and writes failed records again', async () => {
    const journal = createMemoryJournal();
    const told = logger();
    let fails = true;
    const failing: Journal = Object.assign(Object.create(journal), {
      remember: (...args: Parameters<NonNullable<Journal['remember']>>) => {
        if (fails) throw new Error('disk full');
        return journal.remember?.(...args);
      },
    });
    const memory = new ConversationMemories({ journal: failing, clock, logger: told }).of('c');
    void journal.remember?.('c', [{ key: 'file:/r/f', value: { sha256: HASH }, at: 1 }]);
    const mine = { sha256: 'b'.repeat(64), at: 2 };
    filesRead(memory).set('/r/f', mine);
    recordReads(memory);
    expect(told.error).toHaveBeenCalledWith(
      expect.objectContaining({ why: 'disk full' }),
      expect.any(String),
    );
    await filesRead(memory).refresh();
    expect(filesRead(memory).get('/r/f')).toEqual(mine);
    fails = false;
    recordReads(memory);
    expect((await journal.recall?.('c'))?.facts).toEqual([
      { key: 'file:/r/f', value: { sha256: mine.sha256 }, at: 2 },
    ]);
  });

  it('records nothing that a tool has made up, and recalls only hashes', async () => {
    const journal = createMemoryJournal();
    const memory = new ConversationMemories({ journal, clock, logger: logger() }).of('c');
    const reads: Map<unknown, unknown> = filesRead(memory);
    for (const wrong of [null, 'x', {}, { sha256: 'x' }, { sha256: 3 }]) reads.set('/r/wrong', wrong);
    reads.set(3, { sha256: HASH });
    reads.set('/r/f', { sha256: HASH, at: Number.NaN });
    recordReads(memory);
    expect((await journal.recall?.('c'))?.facts).toEqual([
      { key: 'file:/r/f', value: { sha256: HASH }, at: 7 },
    ]);
    void journal.remember?.('c', [
      { key: 'file:/r/bad', value: { sha256: 'x' }, at: 1 },
      { key: 'todo', value: [1], at: 1 },
    ]);
    await filesRead(memory).refresh();
    expect([...filesRead(memory).keys()]).not.toContain('/r/bad');
    const broken = () => {
      throw new Error('a tool was here');
    };
    Object.assign(filesRead(memory), { set: broken, record: broken });
    recordReads(memory);
    Object.assign(memory, { get: broken });
    recordReads(memory);
  });
});
