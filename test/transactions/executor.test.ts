import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandChanges } from '../../src/contract/changes.js';
import type { Executor } from '../../src/contract/executor.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
const { outside } = place;

function open(more: ExecutorOptions = {}): Executor {
  return createExecutor({
    root: place.root,
    approver: null,
    journal: place.journal,
    ...more,
    sandbox: { os: 'required', transactions: 'required', ...more.sandbox },
  });
}

const bash = (command: string, id = 'c1', timeout?: number) => ({
  id,
  name: 'bash',
  args: { command, ...(timeout === undefined ? {} : { timeout }) },
});

const NOTHING = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

/** Everything below the root: names, modes, contents. */
const world = (): string =>
  outside(
    'find . -mindepth 1 -printf "%p %y %m %l\\n" | sort; find . -type f | sort | xargs -r -d "\\n" cat',
  );

describe.skipIf(WHY_NOT !== '')(`a command as a transaction${WHY_NOT}`, () => {
  it('bug: an undo of the mode of a root overflowed the stack', async () => {
    outside('chmod 755 .; echo a >a');
    await using executor = open();
    const [result] = await executor.run([bash('chmod 750 .; echo b >a')]);
    expect([result?.error, outside('stat -c %a .')]).toEqual([undefined, '750\n']);
    expect((await executor.undo('c1')).skipped).toEqual([]);
    expect(outside('stat -c %a .; cat a')).toBe('755\na\n');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'bug: "Value too large for defined data type" was all that it said about a file of another group',
    async () => {
      outside('echo a >a; chgrp 1 a; chmod 664 a');
      await using executor = open();
      const [refused, copied] = await executor.run([bash('echo b >>a'), bash('cp a b; echo b >>b', 'c2')]);
      expect(refused?.output).toContain('[A file or directory of another group cannot be changed');
      expect([copied?.error, copied?.output]).toEqual([undefined, '']);
      expect(outside('cat a b')).toBe('a\na\nb\n');
    },
  );

  it('bug: paths in the first root were absolute if it lies inside another one', async () => {
    outside('mkdir sub; echo a >sub/old');
    await using executor = open({ root: [join(place.root, 'sub'), place.root] });
    const [result] = await executor.run([bash('echo a >a; mkdir d; rm old; echo b >../b; chmod 750 .')]);
    expect(result?.metadata.changes).toMatchObject({
      created: [join(place.root, 'b'), 'a', 'd/'],
      modified: ['./'],
      deleted: ['old'],
    });
  });

  it('runs even if thousands of files are hidden; a command that writes through is refused or asked about', {
    tags: ['soak'],
  }, async () => {
    outside(
      'mkdir d; cd d; for i in $(seq 2100); do echo SECRET >$i.pem; done; cd ..; mkdir -p "z z"; cp d/1.pem "z z"',
    );
    const asked: string[] = [];
    const own = (name: string, more: { readonly background?: boolean }) =>
      defineTool({
        ...{ name, description: 'runs', input: { type: 'object' }, contained: true, ...more },
        effects: () => [{ kind: 'run', shell: 'bash', command: 'ls d' }],
        execute: async (_args, { processes }) => {
          const { stdout } = await processes.run({ shell: 'bash', command: 'ls d' });
          if (more.background === undefined) return stdout.head;
          return processes.startShell({ shell: 'bash', command: 'ls d' }).then(
            () => 'started',
            (error) => String(error),
          );
        },
      });
    const policy = {
      rules: [{ decision: 'allow', tool: ['bash', 'own', 'ended'], command: ['ls *', 'cat *'] }],
    } as const;
    const openWith = (os: 'required' | 'preferred') =>
      open({
        policy,
        tools: [...builtinTools(), own('own', {}), own('ended', { background: false })],
        approver(requests) {
          asked.push(...requests.map(({ reason }) => reason));
          return { kind: 'deny_all' };
        },
        sandbox: { os, transactions: 'auto' },
      });
    for (const os of ['required', 'preferred'] as const) {
      await using executor = openWith(os);
      const run = await executor.execute('bash', { command: 'ls d "z z"' });
      expect(run).toMatchObject({ success: true, metadata: { sandbox: { transaction: true } } });
      expect(run.output).not.toContain('pem');
      expect(asked).toEqual([]);
      const { metadata, output } = await executor.execute('ended', {});
      expect(output).toMatch(/background/);
      expect([metadata.sandbox, asked]).toEqual([undefined, []]);
      const [shell, tool] = [
        await executor.execute('bash', { command: 'ls d', run_in_background: true }),
        await executor.execute('own', {}),
      ];
      const code = os === 'required' ? 'sandbox_violation' : 'user_denied';
      expect([shell.error?.code, tool.error?.code]).toEqual([code, code]);
      expect(asked).toHaveLength(os === 'required' ? 0 : 2);
      for (const reason of asked) expect(reason).toContain('files that deny patterns hide');
    }
    await using executor = open();
    const removal = await executor.execute('bash', { command: 'ls d >list; rm -r d' });
    expect(removal.error).toMatchObject({ code: 'sandbox_violation', details: { executed: 'no' } });
    const preview = await executor.preview([bash('ls d >list')]);
    expect(preview.changes.created).toEqual(['list']);
    const [made] = await preview.commit();
    expect(made).toMatchObject({ success: true });
    expect(outside('ls d | wc -l').trim()).toBe('2100');
    await executor.undo('c1');
    expect(outside('ls')).not.toContain('list');
  });

  it('reports its changes, and those that were not kept, with the reason', async () => {
    await using executor = open({
      policy: {
        rules: [{ decision: 'deny', effect: ['write', 'delete'], path: 'fixed/**', reason: 'fixed stays' }],
      },
    });
    outside(
      'mkdir fixed; echo a >fixed/a; echo b >b; echo "echo x >new; rm b; echo y >fixed/a; echo z >.env; exit 3" >w',
    );
    const [result] = await executor.run([bash('sh ./w')]);
    expect(result).toMatchObject({
      success: false,
      error: { code: 'sandbox_violation', details: { executed: 'no' } },
    });
    expect(result?.metadata).toMatchObject({
      exit_code: 3,
      sandbox: { kind: 'bubblewrap', wall: 'bubblewrap', network: false, transaction: true },
      changes: {
        created: [],
        modified: [],
        deleted: [],
        refused: [
          { path: '.env', reason: expect.stringContaining('the deny pattern **/.env covers it') },
          { path: 'fixed/a', reason: expect.stringContaining('fixed stays') },
        ],
        conflicts: [],
      },
    });
    expect(result?.output).toMatch(
      /commands may not change "\.env" \(.*"fixed\/a".*Run the command again without that change/,
    );
    const changes = result?.metadata.changes as CommandChanges | undefined;
    const ref = changes?.refused[1]?.ref;
    const [read] = await executor.run([{ id: 'r', name: 'read_file', args: { path: ref ?? '' } }]);
    expect(read?.output).toContain('y');
    expect(outside('ls -A; cat fixed/a')).toBe('b\nfixed\nw\na\n');
  });

  it('is the default, and names that differ only in case are two files', async () => {
    await using executor = createExecutor({ root: place.root, approver: null });
    const [result] = await executor.run([bash('echo a >Name; echo b >name; truncate -s 3G large')]);
    expect(result?.metadata).toMatchObject({
      sandbox: { transaction: true },
      changes: { created: ['Name', 'large', 'name'] },
    });
    expect(outside('cat Name name; stat -c "%s %b" large')).toBe('a\nb\n3221225472 0\n');
  });

  it('has done nothing when it is stopped by its timeout', async () => {
    await using executor = open();
    const [result] = await executor.run([bash('echo x >new; sleep 30', 'c1', 4000)]);
    expect(result).toMatchObject({ error: { code: 'timeout', details: { executed: 'no' } } });
    expect(result?.output).toContain('The changes of this command were not kept');
    const [idle] = await executor.run([bash('echo said; sleep 30', 'c2', 4000)]);
    expect(idle).toMatchObject({ output: 'said\n', error: { details: { executed: 'no' } } });
    expect(outside('ls -A')).toBe('');
    await using online = open({ journal: join(place.around, 'other.db'), sandbox: { network: true } });
    const [maybe] = await online.run([bash('echo x >new; sleep 30', 'c1', 800)]);
    expect(maybe).toMatchObject({ error: { code: 'timeout', details: { executed: 'maybe' } } });
    expect(outside('ls -A')).toBe('');
  });

  it('is refused if transactions are required but impossible, and otherwise says that it ran without one', async () => {
    const many = Array.from({ length: 6 }, (_, index) => join(place.around, `${index}`));
    for (const path of many) mkdirSync(path);
    await using executor = open({ root: many });
    const [result] = await executor.run([bash('true')]);
    const reason = 'there are more than 5 roots';
    expect(result).toMatchObject({
      error: { code: 'sandbox_violation', hint: expect.stringContaining(reason) },
    });
    await using other = open({ root: many, sandbox: { transactions: 'auto' }, journal: false });
    const [plain] = await other.run([bash('true')]);
    expect(plain?.metadata.sandbox).toMatchObject({ transaction: false, transaction_reason: reason });
    expect(plain?.metadata.changes).toBeUndefined();
  });

  it('sees the changes of earlier calls, and later calls see its changes', async () => {
    await using executor = open();
    const results = await executor.run([
      { id: '1', name: 'write_file', args: { path: 'a', content: 'one\n' } },
      bash('cat a; echo two >>a', '2'),
      { id: '3', name: 'read_file', args: { path: 'a' } },
    ]);
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
    expect(results[1]?.metadata.changes).toEqual({ ...NOTHING, modified: ['a'], discarded: [] });
    expect(results[2]?.output).toContain('two');
  });
});

describe.skipIf(WHY_NOT !== '')(`what a command has changed${WHY_NOT}`, () => {
  const CHANGE =
    'echo x >new; mkdir -p d/e; echo y >d/e/f; ln -s new link; echo more >>old; rm gone; rm -rf tree; chmod 700 old; rm l; mkdir empty; chmod 701 dir';

  beforeEach(() => {
    outside(
      'echo old >old; chmod 640 old; echo gone >gone; chmod 4755 gone; mkdir -p tree/in dir; echo t >tree/in/t; ln -s t tree/l; ln -s old l',
    );
  });

  it('can be undone, and the undo can be undone', { tags: ['soak'] }, async () => {
    await using executor = open();
    const before = world();
    expect((await executor.run([bash(CHANGE)]))[0]?.error).toBeUndefined();
    const after = world();
    const dry = await executor.undo('c1', { dryRun: true });
    expect(dry.skipped).toEqual([]);
    expect(world()).toBe(after);
    const undone = await executor.undo('c1');
    expect(undone.skipped).toEqual([]);
    expect(undone.restored.toSorted()).toEqual(dry.restored.toSorted());
    expect(world()).toBe(before);
    expect((await executor.undo(undone.undoId ?? '')).skipped).toEqual([]);
    expect(world()).toBe(after);
  });

  it('can be undone by another process, too', { tags: ['soak'] }, async () => {
    const before = world();
    {
      await using executor = open();
      await executor.run([bash(CHANGE)], { conversation: 'c' });
    }
    await using later = open();
    expect((await later.undo('c1', { conversation: 'c' })).skipped).toEqual([]);
    expect(world()).toBe(before);
  });

  it('stays if it was changed since', async () => {
    await using executor = open();
    await executor.run([bash(CHANGE)]);
    outside('echo since >>old; echo since >tree; echo since >d/e/f; rm new');
    const { skipped } = await executor.undo('c1');
    expect(
      Object.fromEntries(skipped.map(({ path, reason }) => [path.slice(place.root.length + 1), reason])),
    ).toEqual({
      d: 'another program has put something into it',
      'd/e': 'another program has put something into it',
      'd/e/f': 'it was changed since',
      new: 'it is as it was before',
      old: 'it was changed since',
      tree: 'something else is there',
      'tree/in': 'the directory that it was in is gone',
      'tree/in/t': 'the directory that it was in is gone',
      'tree/l': 'the directory that it was in is gone',
    });
    expect(outside('cat gone; cat d/e/f tree; readlink l')).toBe('gone\nsince\nsince\nold\n');
  });
});
