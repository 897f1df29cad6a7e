import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { createMemoryJournal } from '../../journal/memory/memory-journal.js';
import { unprivileged } from '../../platform/fixtures/unprivileged.js';
import { bytes, call, type Desk, desk } from '../fixtures/undo-desk.js';

const LARGE = 17 * 1024 * 1024;
const large = (letter: string): Uint8Array => Buffer.alloc(LARGE, letter);

/** Ways to move `old` to `new`. */
const MOVES: readonly (readonly [string, (at: Desk) => Promise<void>])[] = [
  ['ctx.files.rename', (at) => at.act('move', (files) => files.rename('old', 'new'))],
  ['*** Move to', (at) => patch(at, '*** Update File: old\n*** Move to: new\n@@\n text\n')],
  [
    '*** Move to, with an edit',
    (at) => patch(at, '*** Update File: old\n*** Move to: new\n@@\n-text\n+edited\n'),
  ],
];

async function patch({ executor }: Desk, body: string): Promise<void> {
  const results = await executor.run(
    [
      call('read_file', { path: 'old' }, 'r'),
      call('apply_patch', { patch: `*** Begin Patch\n${body}*** End Patch` }, 'move'),
    ],
    { conversation: 'desk' },
  );
  expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
}

const under = ({ root }: Desk, ...names: string[]): string[] => names.map((name) => join(root, name));

describe.each(['memory', 'file'])('undo of a move, with a journal in %s', (kind) => {
  it.each(MOVES)('gives both names back, and takes both again: %s', async (_, move) => {
    const at = desk(kind);
    at.write('old', 'text\n');
    chmodSync(join(at.root, 'old'), 0o640);
    await move(at);
    const moved = at.read('new');
    expect([at.read('old'), moved]).toEqual([undefined, expect.any(String)]);
    const { restored, skipped, undoId = '' } = await at.executor.undo('move');
    expect([[...restored].sort(), skipped]).toEqual([under(at, 'new', 'old'), []]);
    expect([at.read('old'), at.read('new'), at.mode('old')]).toEqual(['text\n', undefined, 0o640]);
    await at.executor.undo(undoId);
    expect([at.read('old'), at.read('new'), at.mode('new')]).toEqual([undefined, moved, 0o640]);
  });

  it.each(MOVES)('leaves both alone where a new file has the old name: %s', async (_, move) => {
    const at = desk(kind);
    at.write('old', 'text\n');
    await move(at);
    const moved = at.read('new');
    at.write('old', 'mine');
    const { restored, skipped, undoId } = await at.executor.undo('move');
    expect([restored, undoId]).toEqual([[], undefined]);
    expect(skipped.map(({ path }) => path).sort()).toEqual(under(at, 'new', 'old'));
    expect([at.read('old'), at.read('new')]).toEqual(['mine', moved]);
  });

  it.each(MOVES)('leaves both alone where the moved file was changed since: %s', async (_, move) => {
    const at = desk(kind);
    at.write('old', 'text\n');
    at.write('other', 'before');
    await move(at);
    at.write('new', 'mine');
    const { restored, skipped } = await at.executor.undo('move');
    expect(restored).toEqual([]);
    expect(skipped).toEqual([
      { path: join(at.root, 'old'), reason: `it was moved, and "${join(at.root, 'new')}" stays` },
      { path: join(at.root, 'new'), reason: 'it was changed since' },
    ]);
    expect([at.read('old'), at.read('new')]).toEqual([undefined, 'mine']);
  });

  it('holds for the undo of the undo as well', async () => {
    const at = desk(kind);
    at.write('old', 'text');
    await at.act('move', (files) => files.rename('old', 'new'));
    const { undoId = '' } = await at.executor.undo('move');
    at.write('new', 'mine');
    expect(await at.executor.undo(undoId)).toMatchObject({ restored: [], skipped: [{}, {}] });
    expect([at.read('old'), at.read('new')]).toEqual(['text', 'mine']);
  });

  it('leaves both alone where the old content was too large to keep, and puts back the others', {
    tags: ['soak'],
  }, async () => {
    const at = desk(kind);
    at.write('old', large('a'));
    at.write('other', 'before');
    await at.act('move', async (files) => {
      await files.rename('old', 'new');
      await files.write('other', bytes('after'), { mode: 'overwrite' });
    });
    const { restored, skipped } = await at.executor.undo('move');
    expect(restored).toEqual(under(at, 'other'));
    expect(skipped.map(({ path }) => path)).toEqual(under(at, 'old', 'new'));
    expect([at.read('old'), at.read('new')?.length, at.read('other')]).toEqual([undefined, LARGE, 'before']);
  });

  it('follows a chain of moves in one call, and puts back what each of them replaced', async () => {
    const at = desk(kind);
    for (const name of ['a', 'c']) at.write(name, name);
    await at.act('chain', async (files) => {
      await files.rename('a', 'b');
      await files.rename('b', 'c');
    });
    expect(['a', 'b', 'c'].map(at.read)).toEqual([undefined, undefined, 'a']);
    await at.executor.undo('chain');
    expect(['a', 'b', 'c'].map(at.read)).toEqual(['a', undefined, 'c']);
  });

  it.each([
    ['the last first', ['two', 'one']],
    ['the first first, and again', ['one', 'two', 'one']],
  ])('follows a chain of moves of several calls, %s', async (_, order) => {
    const at = desk(kind);
    at.write('a', 'text');
    await at.act('one', (files) => files.rename('a', 'b'));
    await at.act('two', (files) => files.rename('b', 'c'));
    for (const id of order) {
      await at.executor.undo(id);
      expect(['a', 'b', 'c'].map(at.read)).toContain('text');
    }
    expect(['a', 'b', 'c'].map(at.read)).toEqual(['text', undefined, undefined]);
  });

  it('takes back a swap, and that again', async () => {
    const at = desk(kind);
    for (const name of ['a', 'b']) at.write(name, name);
    await at.act('swap', async (files) => {
      await files.rename('a', 't');
      await files.rename('b', 'a');
      await files.rename('t', 'b');
    });
    const { undoId = '' } = await at.executor.undo('swap');
    expect(['a', 'b', 't'].map(at.read)).toEqual(['a', 'b', undefined]);
    await at.executor.undo(undoId);
    expect(['a', 'b', 't'].map(at.read)).toEqual(['b', 'a', undefined]);
  });

  it('leaves a swap of files unchanged that were too large to keep', { tags: ['soak'] }, async () => {
    const at = desk(kind);
    for (const name of ['a', 'b']) at.write(name, large(name));
    await at.act('swap', async (files) => {
      await files.rename('a', 't');
      await files.rename('b', 'a');
      await files.rename('t', 'b');
    });
    expect((await at.executor.undo('swap')).restored).toEqual([]);
    expect(['a', 'b'].map((name) => at.read(name)?.[0])).toEqual(['b', 'a']);
  });

  it('leaves a link that was moved, with both names', async () => {
    const at = desk(kind);
    symlinkSync('target', join(at.root, 'old'));
    await at.act('move', (files) => files.rename('old', 'new'));
    const { restored, skipped } = await at.executor.undo('move');
    expect([restored, skipped.map(({ path }) => path)]).toEqual([[], under(at, 'old', 'new')]);
    expect(lstatSync(join(at.root, 'new')).isSymbolicLink()).toBe(true);
  });

  it('gives the old name the permission bits that the file was given since', async () => {
    const at = desk(kind);
    at.write('old', 'text');
    chmodSync(join(at.root, 'old'), 0o644);
    await at.act('move', (files) => files.rename('old', 'new'));
    chmodSync(join(at.root, 'new'), 0o600);
    await at.executor.undo('move');
    expect([at.read('old'), at.mode('old')]).toEqual(['text', 0o600]);
  });
});

describe('undo, where old contents were pushed out of the journal in memory', () => {
  it('leaves a moved file where it is', { tags: ['soak'] }, async () => {
    const at = desk('memory');
    at.write('old', 'text');
    await at.act('move', (files) => files.rename('old', 'new'));
    await at.act('push', async (files) => {
      for (const letter of 'abcdefgh') {
        writeFileSync(join(at.root, 'big'), Buffer.alloc(10 * 1024 * 1024, letter));
        await files.remove('big');
      }
    });
    const { restored, skipped } = await at.executor.undo('move');
    expect([restored, skipped]).toEqual([
      [],
      [
        { path: join(at.root, 'old'), reason: 'its old content was not kept' },
        { path: join(at.root, 'new'), reason: `it was moved, and "${join(at.root, 'old')}" stays` },
      ],
    ]);
    expect([at.read('old'), at.read('new')]).toEqual([undefined, 'text']);
  });

  it('replaces only as much as there is room for, and can undo all of that', {
    tags: ['soak'],
  }, async () => {
    const at = desk('memory');
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) at.write(name, `old ${name}`);
    await at.act('fill', async (files) => {
      for (const name of names) {
        await files.write(name, Buffer.alloc(15 * 1024 * 1024, name), { mode: 'overwrite' });
      }
    });
    const { restored, skipped, undoId = '' } = await at.executor.undo('fill');
    expect([restored.length, skipped.length]).toEqual([4, 1]);
    expect(skipped[0]?.reason).toBe('the journal has no room for its current content');
    const isOld = names.map((name) => at.read(name) === `old ${name}`);
    expect(isOld.filter(Boolean)).toHaveLength(4);
    expect((await at.executor.undo(undoId)).restored).toHaveLength(4);
    expect(names.map((name) => at.read(name)?.length)).toEqual(names.map(() => 15 * 1024 * 1024));
  });
});

describe.each(['memory', 'file'])('undo never replaces what it cannot keep, with a journal in %s', (kind) => {
  it.each(['overwrite', 'create'] as const)('such as a large file that the call wrote (%s)', async (mode) => {
    const at = desk(kind);
    if (mode === 'overwrite') at.write('f', 'old');
    await at.act('write', (files) => files.write('f', large('x'), { mode }));
    const { restored, skipped } = await at.executor.undo('write');
    expect([restored, skipped]).toEqual([
      [],
      [{ path: join(at.root, 'f'), reason: 'its current content is too large to keep' }],
    ]);
    expect(at.read('f')?.length).toBe(LARGE);
  });
});

describe.each(['memory', 'file'])('undo follows no link, with a journal in %s', (kind) => {
  it.each(['written', 'made', 'removed'])('that a directory has become: a file that was %s', async (what) => {
    const at = desk(kind);
    at.write('other', 'old');
    at.write('d/keep', '');
    if (what !== 'made') at.write('d/f', 'old');
    await at.act('x', async (files) => {
      await files.write('other', bytes('new'), { mode: 'overwrite' });
      if (what === 'removed') await files.remove('d/f');
      else await files.write('d/f', bytes('new'), { mode: 'overwrite' });
    });
    renameSync(join(at.root, 'd'), join(at.root, 'moved'));
    symlinkSync('moved', join(at.root, 'd'));
    const { restored, skipped } = await at.executor.undo('x');
    expect(restored).toEqual(under(at, 'other'));
    expect(skipped).toEqual([
      { path: join(at.root, 'd/f'), reason: 'a part of its path is a link, or no longer a directory' },
    ]);
    expect([at.read('moved/f'), at.read('other')]).toEqual([what === 'removed' ? undefined : 'new', 'old']);
  });

  it('to remove an empty directory that is not the one that the call made', async () => {
    const at = desk(kind);
    await at.act('x', (files) => files.write('d/e/f', bytes('new'), { mode: 'create' }));
    renameSync(join(at.root, 'd'), join(at.root, 'moved'));
    symlinkSync('moved', join(at.root, 'd'));
    rmSync(join(at.root, 'moved/e/f'));
    await at.executor.undo('x');
    expect(at.names()).toContain('moved/e');
  });

  it('that a file has become: the link stays, and what it leads to', async () => {
    const at = desk(kind);
    at.write('f', 'old');
    at.write('target', 'new');
    await at.act('x', (files) => files.write('f', bytes('new'), { mode: 'overwrite' }));
    rmSync(join(at.root, 'f'));
    symlinkSync('target', join(at.root, 'f'));
    expect((await at.executor.undo('x')).restored).toEqual([]);
    expect([lstatSync(join(at.root, 'f')).isSymbolicLink(), at.read('target')]).toEqual([true, 'new']);
  });
});

describe.each(['memory', 'file'])('undo puts permission bits right, with a journal in %s', (kind) => {
  it.each([0o4755, 0o2755, 0o1644, 0o600, 0o444])(
    'of files that were written and removed: %o',
    async (mode) => {
      const at = desk(kind);
      for (const name of ['written', 'removed', 'moved']) {
        at.write(name, name);
        chmodSync(join(at.root, name), mode);
      }
      const isReadOnly = mode === 0o444;
      await at.act('x', async (files) => {
        if (!isReadOnly) await files.write('written', bytes('new'), { mode: 'overwrite' });
        await files.remove('removed');
        await files.rename('moved', 'elsewhere');
      });
      const { undoId = '' } = await at.executor.undo('x');
      expect(['written', 'removed', 'moved'].map(at.mode)).toEqual([mode, mode, mode]);
      const again = await at.executor.undo(undoId);
      if (!isReadOnly) expect(at.mode('written')).toBe(mode & 0o1777);
      expect(at.mode('elsewhere')).toBe(mode);
      await at.executor.undo(again.undoId ?? '');
      expect(['written', 'removed', 'moved'].map(at.mode)).toEqual([mode, mode, mode]);
    },
  );

  it('of a file that it removes, when that comes back', async () => {
    const at = desk(kind);
    await at.act('x', (files) => files.writeAll([{ path: 'f', bytes: bytes('text'), mode: 0o1711 }]));
    const { undoId = '' } = await at.executor.undo('x');
    expect(existsSync(join(at.root, 'f'))).toBe(false);
    await at.executor.undo(undoId);
    expect([at.read('f'), at.mode('f')]).toEqual(['text', 0o1711]);
  });

  it.skipIf(process.getuid?.() === 0)('and leaves a file alone that was made read-only since', async () => {
    const at = desk(kind);
    at.write('f', 'old');
    await at.act('x', (files) => files.write('f', bytes('new'), { mode: 'overwrite' }));
    chmodSync(join(at.root, 'f'), 0o444);
    expect(await at.executor.undo('x')).toMatchObject({ restored: [], skipped: [{}] });
    expect(at.read('f')).toBe('new');
  });
});

describe.each(['memory', 'file'])('undo puts empty directories right, with a journal in %s', (kind) => {
  it('that the call made and left empty: they go, and come back with their permission bits', async () => {
    const at = desk(kind);
    await at.act('x', async (files) => {
      await files.write('d/e/f', bytes(''), { mode: 'create' });
      await files.remove('d/e/f');
    });
    chmodSync(join(at.root, 'd/e'), 0o700);
    const { undoId = '' } = await at.executor.undo('x');
    expect(at.names()).toEqual([]);
    const again = await at.executor.undo(undoId);
    expect([at.names(), at.mode('d/e')]).toEqual([['d', 'd/e'], 0o700]);
    await at.executor.undo(again.undoId ?? '');
    expect(at.names()).toEqual([]);
  });

  it('that the call made around a file: they come back around it with their permission bits', async () => {
    const at = desk(kind);
    await at.act('x', (files) => files.write('d/e/f', bytes('text'), { mode: 'create' }));
    chmodSync(join(at.root, 'd'), 0o710);
    const { undoId = '' } = await at.executor.undo('x');
    await at.executor.undo(undoId);
    expect([at.read('d/e/f'), at.mode('d')]).toEqual(['text', 0o710]);
  });

  it('that it has to make for a file, and that go when that is undone', async () => {
    const at = desk(kind);
    at.write('d/e/f', 'text');
    await at.act('x', (files) => files.remove('d/e/f'));
    rmdirSync(join(at.root, 'd/e'));
    rmdirSync(join(at.root, 'd'));
    const { undoId = '' } = await at.executor.undo('x');
    expect(at.read('d/e/f')).toBe('text');
    await at.executor.undo(undoId);
    expect(at.names()).toEqual([]);
  });
});

describe('undo fails with a ToolError only, and then nothing has changed', () => {
  it.each([undefined, null, '', 7, {}, [], Symbol('id'), '\0', 'x'.repeat(100_000)])(
    'for an id that names no call: %o',
    async (id) => {
      for (const kind of ['memory', 'file']) {
        const error = await caught(desk(kind).executor.undo(id as string));
        expect(isToolError(error, 'bad_args')).toBe(true);
      }
    },
  );

  it('for an executor that is closed, before and while it was used', async () => {
    for (const kind of ['memory', 'file']) {
      const unused = desk(kind);
      await unused.executor.close();
      expect(isToolError(await caught(unused.executor.undo('x')))).toBe(true);
      const at = desk(kind);
      at.write('f', 'old');
      await at.act('x', (files) => files.write('f', bytes('new'), { mode: 'overwrite' }));
      await at.executor.close();
      expect(isToolError(await caught(at.executor.undo('x')))).toBe(true);
      expect(at.read('f')).toBe('new');
    }
  });

  it('when the executor is closed meanwhile: it is done completely, or not at all', async () => {
    for (const kind of ['memory', 'file']) {
      const at = desk(kind);
      for (const name of ['a', 'b']) at.write(name, 'old');
      await at.act('x', async (files) => {
        for (const name of ['a', 'b']) await files.write(name, bytes('new'), { mode: 'overwrite' });
      });
      const undoing = at.executor.undo('x').then(
        () => 'old',
        (error: unknown) => (isToolError(error) ? 'new' : error),
      );
      await at.executor.close();
      const now = await undoing;
      expect(['a', 'b'].map(at.read)).toEqual([now, now]);
    }
  });

  it.each(['find', 'notes', 'kept', 'accept', 'claim', 'note', 'keep', 'finish'] as const)(
    'for a journal that throws what it likes in %s()',
    async (method) => {
      for (const thrown of [new Error('no'), undefined, new TypeError('x'), 'text']) {
        const { journal, breakIt } = brittle(method, thrown);
        const at = desk(journal);
        for (const name of ['a', 'gone']) at.write(name, 'old');
        await at.act('x', async (files) => {
          await files.write('a', bytes('new'), { mode: 'overwrite' });
          await files.remove('gone');
        });
        breakIt(true);
        const error = await caught(at.executor.undo('x'));
        breakIt(false);
        expect(isToolError(error)).toBe(true);
        // Only the last record is written after the files.
        const isDone = method === 'finish';
        expect([at.read('a'), at.read('gone')]).toEqual(isDone ? ['old', 'old'] : ['new', undefined]);
        expect(isToolError(error) && error.details.executed === 'yes').toBe(isDone);
        expect(at.names().filter((name) => name.includes('.toolexec-'))).toEqual([]);
        if (!isDone) await at.executor.undo('x');
        expect([at.read('a'), at.read('gone')]).toEqual(['old', 'old']);
      }
    },
  );

  it('with what it has cleared away first back in its place', async () => {
    const journal = createMemoryJournal();
    const at = desk(journal);
    at.write('a', 'old');
    await at.act('x', async (files) => {
      await files.remove('a');
      await files.write('a/b', bytes('new'), { mode: 'create' });
    });
    chmodSync(join(at.root, 'a'), 0o700);
    let intents = 0;
    const { note } = journal;
    journal.note = async (key, entry) => {
      if (entry.kind === 'intent' && ++intents === 2) throw new Error('the disk is gone');
      return note.call(journal, key, entry);
    };
    await expect(at.executor.undo('x')).rejects.toSatisfy((error) => isToolError(error));
    expect([at.read('a/b'), at.mode('a'), at.names()]).toEqual(['new', 0o700, ['a', 'a/b']]);
    await at.executor.undo('x');
    expect([at.read('a'), at.names()]).toEqual(['old', ['a']]);
  });

  it('for a directory that may not be written', () =>
    unprivileged(async () => {
      const at = desk('file');
      at.write('d/f', 'old');
      at.write('e', 'old');
      await at.act('x', async (files) => {
        for (const name of ['e', 'd/f']) await files.write(name, bytes('new'), { mode: 'overwrite' });
      });
      chmodSync(join(at.root, 'd'), 0o500);
      const error = await caught(at.executor.undo('x'));
      chmodSync(join(at.root, 'd'), 0o700);
      expect(error).toMatchObject({ code: 'execution_failed', details: { errno: 'EACCES' } });
      expect([at.read('e'), at.read('d/f')]).toEqual(['new', 'new']);
    }));

  it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')('for a disk that is full', async () => {
    const at = desk('file');
    const disk = join(at.root, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
    try {
      at.write('disk/large', Buffer.alloc(300 * 1024, 'o'));
      at.write('e', 'old');
      await at.act('x', async (files) => {
        for (const name of ['e', 'disk/large']) await files.write(name, bytes('new'), { mode: 'overwrite' });
      });
      const { bavail, bsize } = statfsSync(disk);
      at.write('disk/fill', Buffer.alloc(bavail * bsize - 100 * 1024));
      const error = await caught(at.executor.undo('x'));
      expect(error).toMatchObject({ code: 'execution_failed', details: { errno: 'ENOSPC' } });
      expect([at.read('e'), at.read('disk/large')]).toEqual(['new', 'new']);
      expect(at.names()).toEqual(['disk', 'disk/fill', 'disk/large', 'e']);
      rmSync(join(disk, 'fill'));
      expect((await at.executor.undo('x')).restored).toHaveLength(2);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });
});

describe('undo, while its files are written by others', () => {
  it('loses nothing that is appended at the same time', async () => {
    const at = desk('file');
    at.write('log', 'old\n');
    at.write('other', 'old');
    await at.act('x', async (files) => {
      await files.write('log', bytes('new\n'), { mode: 'append' });
      await files.write('other', bytes('new'), { mode: 'overwrite' });
    });
    const undoing = at.executor.undo('x');
    // In this process, between two of its steps.
    await Promise.resolve();
    writeFileSync(join(at.root, 'log'), 'mine\n', { flag: 'a' });
    const { restored, skipped } = await undoing;
    expect([restored, skipped.map(({ path }) => path)]).toEqual([under(at, 'other'), under(at, 'log')]);
    expect([at.read('log'), at.read('other')]).toEqual(['old\nnew\nmine\n', 'old']);
  });

  it('is done once where two undo the same call', async () => {
    const at = desk('file');
    at.write('f', 'old');
    await at.act('x', (files) => files.write('f', bytes('new'), { mode: 'overwrite' }));
    const reports = await Promise.all([at.executor.undo('x'), at.executor.undo('x')]);
    expect(reports.flatMap(({ restored }) => restored)).toEqual(under(at, 'f'));
    expect(at.read('f')).toBe('old');
  });
});

async function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It was to fail.');
    },
    (error: unknown) => error,
  );
}

/** A journal in memory whose `method` throws while it is broken. */
function brittle(
  method: keyof Journal,
  thrown: unknown,
): { readonly journal: Journal; breakIt(broken: boolean): void } {
  let isBroken = false;
  const journal = new Proxy(createMemoryJournal(), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (isBroken && name === method) throw thrown;
        return Reflect.apply(value, target, args);
      };
    },
  });
  return {
    journal,
    breakIt(broken) {
      isBroken = broken;
    },
  };
}
