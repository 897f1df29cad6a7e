import { chmodSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { UndoOptions } from '../../contract/executor.js';
import { builtinTools } from '../builtin-tools.js';
import { executorOf } from '../fixtures/plan-fixture.js';
import { bytes, call, desk } from '../fixtures/undo-desk.js';

describe.each(['memory', 'file'])('executor.undo() with a journal in %s', (kind) => {
  it.each(['overwrite', 'append'])('puts back what write_file replaced (%s)', async (mode) => {
    const { executor, read, write, root } = desk(kind);
    write('f', 'old');
    chmodSync(join(root, 'f'), 0o640);
    const args = { path: 'f', content: 'new', mode };
    expect((await executor.run([call('write_file', args, 'w')], { conversation: 'c' }))[0]?.success).toBe(
      true,
    );
    const report = await executor.undo('w', { conversation: 'c' });
    expect(report).toEqual({
      callId: 'w',
      restored: [join(root, 'f')],
      skipped: [],
      undoId: expect.stringMatching(/^undo_/),
    });
    expect([read('f'), statSync(join(root, 'f')).mode & 0o777]).toEqual(['old', 0o640]);
  });

  it('takes back all files of a patch, the one that was removed with its mode', async () => {
    const { executor, read, write, root } = desk(kind);
    write('a', 'one\n');
    write('gone', 'gone\n');
    chmodSync(join(root, 'gone'), 0o604);
    const patch =
      '*** Begin Patch\n*** Update File: a\n@@\n-one\n+ONE\n*** Add File: d/new\n+n\n*** Delete File: gone\n*** End Patch';
    const calls = [
      call('read_file', { path: 'a' }, 'r1'),
      call('read_file', { path: 'gone' }, 'r2'),
      call('apply_patch', { patch }, 'p'),
    ];
    const results = await executor.run(calls, { conversation: 'c' });
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
    expect([...(await executor.undo('p')).restored].sort()).toEqual(
      ['a', 'd/new', 'gone'].map((name) => join(root, name)),
    );
    expect([read('a'), read('d/new'), read('gone')]).toEqual(['one\n', undefined, 'gone\n']);
    expect(statSync(join(root, 'gone')).mode & 0o777).toBe(0o604);
  });

  it('leaves permission bits that somebody has set since, and puts back those that the call set', async () => {
    const { executor, read, write, root } = desk(kind, async (files) => {
      await files.writeAll([{ path: 'set', bytes: bytes('new'), mode: 0o600 }]);
    });
    for (const name of ['kept', 'set']) write(name, 'old');
    chmodSync(join(root, 'kept'), 0o644);
    chmodSync(join(root, 'set'), 0o644);
    const modes = () => ['kept', 'set'].map((name) => statSync(join(root, name)).mode & 0o777);
    await executor.run([
      call('write_file', { path: 'kept', content: 'new', mode: 'overwrite' }, 'w'),
      call('act', {}, 'x'),
    ]);
    chmodSync(join(root, 'kept'), 0o640);
    const undone = [await executor.undo('w'), await executor.undo('x')];
    expect([read('kept'), read('set'), modes()]).toEqual(['old', 'old', [0o640, 0o644]]);
    for (const { undoId } of undone) await executor.undo(undoId ?? '');
    expect([read('kept'), read('set'), modes()]).toEqual(['new', 'new', [0o640, 0o600]]);
  });

  it('can be undone, and that again', async () => {
    const { executor, read, write } = desk(kind);
    write('f', 'old');
    await executor.run([call('write_file', { path: 'f', content: 'new', mode: 'overwrite' }, 'w')]);
    const first = await executor.undo('w');
    const second = await executor.undo(first.undoId ?? '');
    expect(read('f')).toBe('new');
    expect((await executor.undo(second.undoId ?? '')).restored).toHaveLength(1);
    expect(read('f')).toBe('old');
    expect(await executor.undo('w')).toMatchObject({
      restored: [],
      skipped: [{ reason: 'it is as it was before' }],
    });
  });

  it('leaves a file alone that was changed since, says so, and puts back the others', async () => {
    const { executor, read, write, root } = desk(kind, async (files) => {
      for (const name of ['a', 'b']) await files.write(name, bytes('new'), { mode: 'overwrite' });
    });
    write('a', 'old');
    write('b', 'old');
    await executor.run([call('act', {}, 'x')]);
    write('a', 'mine');
    const report = await executor.undo('x');
    expect(report.restored).toEqual([join(root, 'b')]);
    expect(report.skipped).toEqual([{ path: join(root, 'a'), reason: 'it was changed since' }]);
    expect([read('a'), read('b')]).toEqual(['mine', 'old']);
  });

  it('goes back over several changes of one file, and over removing and renaming', async () => {
    const { executor, read, write } = desk(kind, async (files) => {
      await files.write('a', bytes('1'), { mode: 'overwrite' });
      await files.write('a', bytes('2'), { mode: 'append' });
      await files.write('made', bytes('x'), { mode: 'create' });
      await files.remove('made');
      await files.rename('b', 'c');
      await files.remove('d');
    });
    for (const name of ['a', 'b', 'c', 'd']) write(name, name);
    await executor.run([call('act', {}, 'x')]);
    expect(['a', 'b', 'c', 'd'].map(read)).toEqual(['12', undefined, 'b', undefined]);
    await executor.undo('x');
    expect(['a', 'b', 'c', 'd', 'made'].map(read)).toEqual(['a', 'b', 'c', 'd', undefined]);
  });

  it('reports what it does not have: a link, and what was too large to keep', async () => {
    const { executor, read, write, root } = desk(kind, async (files) => {
      await files.remove('link');
      await files.write('large', bytes('small'), { mode: 'overwrite' });
      await files.write('f', bytes('new'), { mode: 'overwrite' });
    });
    write('large', 'x'.repeat(16 * 1024 * 1024 + 1));
    write('f', 'old');
    symlinkSync('f', join(root, 'link'));
    await executor.run([call('act', {}, 'x')]);
    const { restored, skipped } = await executor.undo('x');
    expect(restored).toEqual([join(root, 'f')]);
    expect(skipped).toEqual([
      { path: join(root, 'link'), reason: 'it was not a regular file' },
      { path: join(root, 'large'), reason: 'its old content was not kept' },
    ]);
    expect(read('f')).toBe('old');
  });

  it('says what it would do, and does nothing', async () => {
    const { executor, read, write, root } = desk(kind);
    write('f', 'old');
    await executor.run([call('write_file', { path: 'f', content: 'new', mode: 'overwrite' }, 'w')]);
    expect(await executor.undo('w', { dryRun: true })).toEqual({
      callId: 'w',
      restored: [join(root, 'f')],
      skipped: [],
    });
    expect(read('f')).toBe('new');
  });

  it('takes the newest call of an id, or that of a conversation', async () => {
    const { executor, read } = desk(kind);
    for (const name of ['one', 'two']) {
      await executor.run([call('write_file', { path: name, content: 'x' }, 'w')], { conversation: name });
    }
    await executor.undo('w', { conversation: 'one' });
    expect([read('one'), read('two')]).toEqual([undefined, 'x']);
    await executor.undo('w');
    expect(read('two')).toBeUndefined();
  });

  it('bug: took the first of several deliveries of a call', async () => {
    const { executor, read } = desk(kind);
    const append = call('write_file', { path: 'f', content: 'x', mode: 'append' }, 'w');
    const starts = [executor.start([append], { conversation: 'c' })];
    await starts[0]?.results;
    starts.push(executor.start([append], { conversation: 'c', again: true }));
    await starts[1]?.results;
    expect(read('f')).toBe('xx');
    expect((await executor.undo('w', { conversation: 'c' })).skipped).toEqual([]);
    expect(read('f')).toBe('x');
    const batchId = starts[0]?.id ?? '';
    expect((await executor.undo('w', { conversation: 'c', batchId })).skipped).toEqual([]);
    expect(read('f')).toBeUndefined();
  });

  it('refuses options that it does not know, and undoes nothing', async () => {
    const { executor, read } = desk(kind);
    await executor.run([call('write_file', { path: 'f', content: 'new' }, 'w')]);
    for (const options of [{ dryrun: true }, { dryRun: 'yes' }, { conversation: '' }, 'c'])
      await expect(executor.undo('w', options as UndoOptions)).rejects.toMatchObject({
        code: 'config_invalid',
      });
    expect(read('f')).toBe('new');
  });

  it('refuses a call that it does not know, or that changed nothing', async () => {
    const { executor } = desk(kind);
    await executor.run([call('act', {}, 'x')], { conversation: 'c' });
    await expect(executor.undo('y')).rejects.toThrow(/^Cannot undo "y": the journal has no such call/);
    await expect(executor.undo('x')).rejects.toThrow(/changed no files/);
    await expect(executor.undo('x', { conversation: 'd' })).rejects.toThrow(/no such call/);
  });

  it('notes nothing where the journal has no place for it', async () => {
    const { executor, root, read } = desk(kind);
    const dry = await executor.run([call('write_file', { path: 'f', content: 'x' }, 'w')], { dryRun: true });
    expect([dry[0]?.success, read('f')]).toEqual([true, undefined]);
    const none = executorOf(builtinTools(), { root, approver: null, policy: null, journal: false });
    await none.run([call('write_file', { path: 'f', content: 'x' }, 'w')]);
    expect(read('f')).toBe('x');
    await expect(none.undo('w')).rejects.toThrow(/nothing is recorded/);
    rmSync(join(root, 'f'));
  });
});
