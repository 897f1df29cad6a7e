import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ToolCall } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
const { outside } = place;

function open(more: ExecutorOptions = {}): Executor {
  return createExecutor({ root: place.root, approver: null, journal: place.journal, ...more });
}

const call = (id: string, name: string, args: ToolCall['args']): ToolCall => ({ id, name, args });
const bash = (id: string, command: string): ToolCall => call(id, 'bash', { command });

const NOTHING = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

/** The remains of transactions. */
const left = (): readonly string[] =>
  readdirSync(`${place.journal}-transactions`).filter((name) => name.startsWith('transaction-'));

/** Each call sees the changes of the earlier ones, for every kind of tool. */
const CHAIN = [
  call('1', 'write_file', { path: 'src/a.txt', content: 'one\n' }),
  bash('2', 'cat src/a.txt; echo two >>src/a.txt; mkdir made; rm old'),
  call('3', 'read_file', { path: 'src/a.txt' }),
  call('4', 'edit_file', { path: 'src/a.txt', old_string: 'two', new_string: 'three' }),
  call('5', 'grep', { pattern: 'three' }),
  call('6', 'list_directory', { path: '.' }),
  bash('7', 'cat src/a.txt; ls'),
];

describe.skipIf(WHY_NOT !== '')(`a preview${WHY_NOT}`, () => {
  beforeEach(() => void outside('echo old >old; echo keep >keep'));

  it('shows the results and changes of calls, each after the changes of earlier ones', async () => {
    await using executor = open();
    const preview = await executor.preview(CHAIN);
    expect(preview.results.map(({ success, error }) => error ?? success)).toEqual(CHAIN.map(() => true));
    expect(preview.results[2]?.output).toMatch(/one[\s\S]*two/);
    expect(preview.results[1]?.metadata.changes).toMatchObject({
      created: ['made/'],
      modified: ['src/a.txt'],
      deleted: ['old'],
      refused: [],
    });
    expect(preview.results[4]?.output).toBe('src/a.txt');
    expect(preview.results[5]?.output).toContain('made');
    expect(preview.results[6]?.output).toBe('one\nthree\nkeep\nmade\nsrc\n');
    expect(preview.changes).toMatchObject({
      created: ['made/', 'src/', 'src/a.txt'],
      modified: [],
      deleted: ['old'],
      refused: [],
      conflicts: [],
    });
    expect(preview.parts).toEqual([
      {
        kind: 'changes',
        entries: [
          { path: 'made/', change: 'create', after: { kind: 'dir', mode: '755' } },
          { path: 'old', change: 'delete', before: { kind: 'file', mode: '644', size: 4 } },
          { path: 'src/', change: 'create', after: { kind: 'dir', mode: '755' } },
          { path: 'src/a.txt', change: 'create', after: { kind: 'file', mode: '644', size: 10 } },
        ],
        notKept: [],
      },
      { kind: 'diff', path: 'old', before: 'old\n', after: undefined },
      { kind: 'file', path: 'src/a.txt', text: 'one\nthree\n' },
    ]);
    expect(outside('ls -A')).toBe('keep\nold\n');
    await preview.discard();
    expect(outside('ls -A')).toBe('keep\nold\n');
    expect(left()).toEqual([]);
    await expect(preview.commit()).rejects.toMatchObject({ code: 'bad_args' });
  });

  it('is committed, recorded and undone as a whole', async () => {
    await using executor = open();
    const preview = await executor.preview(CHAIN, { conversation: 'c' });
    const results = await preview.commit();
    expect(results.map(({ output }) => output)).toEqual(preview.results.map(({ output }) => output));
    expect(outside('ls -A; cat src/a.txt')).toBe('keep\nmade\nsrc\none\nthree\n');
    // When delivered again, it is answered from the record.
    const [again] = await executor.run(CHAIN.slice(0, 1), { conversation: 'c' });
    expect(again?.output).toBe(results[0]?.output);
    // The conversation knows its reads and writes.
    const [edited] = await executor.run(
      [call('8', 'edit_file', { path: 'src/a.txt', old_string: 'three', new_string: 'four' })],
      { conversation: 'c' },
    );
    expect(edited?.error).toBeUndefined();
    outside('echo one >src/a.txt; echo since >>src/a.txt');
    const { skipped } = await executor.undo('2', { conversation: 'c' });
    expect(skipped.map(({ path }) => path)).toEqual([join(place.root, 'src/a.txt'), join(place.root, 'src')]);
    expect(outside('cat old; ls -A')).toBe('old\nkeep\nold\nsrc\n');
  });

  it('commits nothing if a command changed a path that it may not change', async () => {
    await using executor = open();
    const calls = [bash('1', 'echo a >a'), bash('2', 'echo b >b; echo secret >.env'), bash('3', 'ls')];
    const preview = await executor.preview(calls);
    expect(preview.results[1]).toMatchObject({
      error: { code: 'sandbox_violation' },
      metadata: { changes: { created: [], refused: [{ path: '.env' }] } },
    });
    const results = await preview.commit();
    expect(results.map(({ success }) => success)).toEqual([false, false, false]);
    expect(results[0]?.error?.message).toContain('a command changed files that commands may not change');
    expect(outside('ls -A')).toBe('keep\nold\n');
  });

  it('reports the questions; committing asks them, and one refusal refuses everything', {
    tags: ['soak'],
  }, async () => {
    const asked: string[][] = [];
    let kind: 'approve_all' | 'deny_all' = 'deny_all';
    await using executor = open({
      approver: (requests) => {
        asked.push(requests.map(({ callId }) => callId));
        return { kind };
      },
    });
    const calls = [bash('1', 'touch a'), call('2', 'read_file', { path: 'keep' })];
    const refused = await executor.preview(calls);
    expect(refused.requests.map(({ callId }) => callId)).toEqual(['1']);
    expect(asked).toEqual([]);
    const none = await refused.commit();
    expect(none.map(({ error }) => error?.code)).toEqual(['user_denied', 'cancelled']);
    expect(outside('ls -A')).toBe('keep\nold\n');
    expect(left()).toEqual([]);
    kind = 'approve_all';
    const agreed = await executor.preview(calls);
    expect((await agreed.commit()).map(({ success }) => success)).toEqual([true, true]);
    expect(asked).toEqual([['1'], ['1']]);
    expect(outside('ls -A')).toBe('a\nkeep\nold\n');
  });

  it('is not committed if another program has changed the same files since', async () => {
    await using executor = open();
    const calls = [bash('1', 'echo mine >old; touch new')];
    const preview = await executor.preview(calls, { conversation: 'c' });
    outside('echo theirs >>old');
    const [result] = await preview.commit();
    expect(result).toMatchObject({
      error: {
        ...{ code: 'conflict', details: { executed: 'no' }, message: expect.stringContaining('old') },
        hint: expect.stringContaining('options.again'),
      },
      metadata: {
        changes: {
          created: [],
          conflicts: [{ path: 'old', reason: expect.stringContaining('another program') }],
        },
      },
    });
    expect(outside('cat old; ls -A')).toBe('old\ntheirs\nkeep\nold\n');
    const same = await executor.preview(calls, { conversation: 'c' });
    expect((await same.commit())[0]).toMatchObject({ success: false, metadata: { replayed: true } });
    const again = await executor.preview(calls, { conversation: 'c', again: true });
    expect((await again.commit())[0]).toMatchObject({ success: true });
    expect(outside('cat old; ls -A')).toBe('mine\nkeep\nnew\nold\n');
  });

  it('bug: a file that an editor had saved unchanged counted as changed', async () => {
    await using executor = open();
    const preview = await executor.preview([
      bash('1', 'echo mine >old'),
      call('2', 'write_file', { path: 'keep', content: 'mine\n', mode: 'overwrite' }),
    ]);
    outside('for f in old keep; do cp $f t; mv t $f; done; touch -d 2001-01-01 old');
    expect((await preview.commit()).map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(outside('cat old keep; ls')).toBe('mine\nmine\nkeep\nold\n');
  });

  it('is not committed if a command was stopped in the middle', { tags: ['soak'] }, async () => {
    await using executor = open();
    const preview = await executor.preview([
      call('1', 'bash', { command: 'touch half; sleep 30', timeout: 500 }),
      bash('2', 'touch whole'),
    ]);
    expect(preview.results[0]?.error?.code).toBe('timeout');
    expect((await preview.commit()).map(({ error }) => error?.code)).toEqual(['cancelled', 'cancelled']);
    expect(outside('ls -A')).toBe('keep\nold\n');
  });

  it('counts inaccessible files, and holes if they would be filled on another disk', {
    tags: ['soak'],
  }, async () => {
    const sandbox = { os: 'required', maxTransactionMb: 3 } as const;
    const closing = 'mkdir d && head -c 5000000 /dev/urandom >d/large && chmod 0 d';
    const hole = 'truncate -s 50M hole';
    const discarded = { success: false, error: { message: expect.stringContaining('3 MB') } };
    await using near = open({ sandbox });
    for (const [command, expected] of [
      [closing, discarded],
      [hole, { success: true }],
    ] as const) {
      const preview = await near.preview([bash('1', command)]);
      expect(preview.results[0], command).toMatchObject(expected);
      await preview.discard();
    }
    // The root is in memory, and the transaction lies beside the journal.
    const elsewhere = mkdtempSync(join('/dev/shm', 'preview-'));
    try {
      await using far = open({ root: elsewhere, sandbox });
      for (const command of [closing, hole]) {
        const preview = await far.preview([bash('1', command)]);
        expect(preview.results[0], command).toMatchObject(discarded);
        expect((await preview.commit())[0]).toMatchObject({ success: false });
      }
      const small = await far.preview([bash('1', 'truncate -s 2M hole; echo end >>hole')]);
      expect((await small.commit())[0]).toMatchObject({ success: true });
      expect(readdirSync(elsewhere)).toEqual(['hole']);
    } finally {
      removeTree(elsewhere);
    }
  });

  it('skips a call with effects outside, and runs it when the rest is committed', {
    tags: ['soak'],
  }, async () => {
    let sent = 0;
    const send = defineTool({
      name: 'send',
      description: 'sends',
      input: { type: 'object' },
      execute() {
        sent++;
        return outside('ls -A');
      },
    });
    await using executor = open({ tools: [...builtinTools(), send] });
    const preview = await executor.preview([call('1', 'send', {}), bash('2', 'touch a')]);
    expect(preview.results[0]).toMatchObject({ success: true, metadata: { dry_run: true } });
    expect(sent).toBe(0);
    const [first] = await preview.commit();
    expect([first?.output, sent]).toEqual(['a\nkeep\nold\n', 1]);
  });

  it('is the only effect of run() with dryRun, and is dropped with the executor if it is left open', {
    tags: ['soak'],
  }, async () => {
    {
      await using executor = open();
      const [result] = await executor.run([bash('1', 'echo x >new; cat new')], { dryRun: 'preview' });
      expect(result).toMatchObject({
        output: 'x\n',
        metadata: { changes: { ...NOTHING, created: ['new'] } },
      });
      await executor.preview([bash('1', 'touch new')]);
      expect(() => executor.start([bash('1', 'touch new')], { dryRun: 'preview' })).toThrow(/run\(\) alone/);
    }
    expect(outside('ls -A')).toBe('keep\nold\n');
    expect(left()).toEqual([]);
  });
});
