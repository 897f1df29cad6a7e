import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileChange } from '../contract/files.js';
import { descriptorOpener, verifiedOpener } from '../platform/fs/open-handle.js';
import { createContainment } from './containment.js';
import { sandboxOf } from './create-sandbox.js';
import { errorOf } from './fixtures/error-of.js';
import { HeldTime } from './fixtures/held-time.js';
import { temporaryTree } from './fixtures/temporary-tree.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const change = (path: string, text: string | null, before?: string | null): FileChange => ({
  path,
  bytes: text === null ? null : bytes(text),
  ...(before === undefined ? {} : { expectedSha256: before === null ? null : sha(before) }),
});
const LOCK = '.toolexec-0000000000000000.tmp';

describe.each([
  ['descriptors', descriptorOpener],
  ['verified paths', verifiedOpener],
])('writeAll, by way of %s,', (_, opener) => {
  const filesOf = (root: string) => sandboxOf(createContainment({ roots: [root] }, opener)).files;
  const everything = (root: string) =>
    readdirSync(root, { recursive: true })
      .map(String)
      .sort()
      .map((name) => {
        const at = join(root, name);
        return statSync(at).isFile() ? `${name}: ${readFileSync(at, 'utf8')}` : name;
      });

  it('creates, replaces and removes, and says what it did', async () => {
    const { root } = temporaryTree({ a: 'old', gone: 'x', l: { link: 'a' } });
    const outcomes = await filesOf(root).writeAll([
      change('l', 'new', 'old'),
      change('d/e/n', 'made', null),
      change('gone', null, 'x'),
    ]);
    expect(outcomes).toEqual([
      { path: join(root, 'a'), created: false, bytesWritten: 3 },
      { path: join(root, 'd/e/n'), created: true, bytesWritten: 4 },
      { path: join(root, 'gone'), created: false, bytesWritten: 0 },
    ]);
    expect(everything(root)).toEqual(['a: new', 'd', 'd/e', 'd/e/n: made', 'l: new']);
    expect(readlinkSync(join(root, 'l'))).toBe('a');
  });

  it('does nothing for no changes, and replaces whatever is there where nothing is expected', async () => {
    const { root } = temporaryTree({ a: 'old' });
    expect(await filesOf(root).writeAll([])).toEqual([]);
    await filesOf(root).writeAll([change('a', '1'), change('b', '2')]);
    expect(everything(root)).toEqual(['a: 1', 'b: 2']);
  });

  it('keeps the mode of what it replaces, and takes that of a model for what it creates', async () => {
    const { root } = temporaryTree({ run: '#!', other: '' });
    chmodSync(join(root, 'run'), 0o751);
    await filesOf(root).writeAll([
      { ...change('moved', '#!', null), like: 'run' },
      change('run', 'x', '#!'),
      change('plain', '', null),
    ]);
    const modeOf = (name: string): number => statSync(join(root, name)).mode & 0o7777;
    expect([modeOf('run'), modeOf('moved'), modeOf('plain')]).toEqual([
      0o751,
      0o751,
      0o666 & ~process.umask(),
    ]);
  });

  const stale: readonly (readonly [string, FileChange])[] = [
    ['other content', change('b', 'B', 'else')],
    ['a file that is gone', change('none', 'B', 'b')],
    ['a file where there should be none', change('b', 'B', null)],
    ['other content of what shall go', change('b', null, 'else')],
    ['what shall go and is gone', change('none', null)],
  ];

  it.each(stale)('refuses %s, and changes nothing', async (_what, last) => {
    const { root } = temporaryTree({ a: 'a', b: 'b' });
    const before = everything(root);
    const all = [change('a', 'A', 'a'), change('d/n', 'N', null), last];
    const error = await errorOf(() => filesOf(root).writeAll(all));
    expect(error).toMatchObject({
      code: 'stale_file',
      details: { path: last.path, reason: 'File content changed since last read' },
    });
    expect(everything(root)).toEqual(before);
  });

  it.each<[string, FileChange, string]>([
    ['a directory', change('dir', 'x'), 'execution_failed'],
    ['a directory that shall go', change('dir', null), 'execution_failed'],
    ['a link that shall go', change('l', null), 'execution_failed'],
    ['a link to the outside', change('out', 'x'), 'sandbox_violation'],
    ['a path above', change('../x', 'x'), 'sandbox_violation'],
    ['a denied name', change('k/id_rsa', 'x', null), 'sandbox_violation'],
    ['a file on the way', change('a/x', 'x'), 'execution_failed'],
    ['a name that is too long', change('x'.repeat(256), 'x'), 'execution_failed'],
    ['the same file by another spelling', change('./a', 'x'), 'bad_args'],
    ['the same file by a link', change('l', 'x'), 'bad_args'],
    ['text', { path: 'n', bytes: 'x' as never }, 'bad_args'],
    ['a hash that is none', { ...change('n', 'x'), expectedSha256: 'ABC' }, 'bad_args'],
  ])('checks all before it makes anything: %s', async (_what, last, code) => {
    const { root, outside } = temporaryTree({
      a: 'a',
      'dir/x': '',
      l: { link: 'a' },
      out: { link: '<outside>/f' },
      '<outside>/f': 'S',
    });
    const names = readdirSync(root).sort();
    const error = await errorOf(() =>
      filesOf(root).writeAll([change('new/n', 'N', null), change('a', 'A', 'a'), last]),
    );
    expect(error.code).toBe(code);
    expect(readdirSync(root).sort()).toEqual(names);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a');
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('S');
  });

  it.each([[['x', 'x/y']], [['x/y/z', 'x']], [['x/y', 'x/y/z']]])(
    'refuses a file that would also be a directory: %s',
    async (paths) => {
      const { root } = temporaryTree({ a: 'a' });
      const error = await errorOf(() =>
        filesOf(root).writeAll(paths.map((path) => change(path, 'new', null))),
      );
      expect(error).toMatchObject({
        code: 'bad_args',
        message: expect.stringContaining('a file and a directory'),
      });
      expect(readdirSync(root)).toEqual(['a']);
    },
  );

  it('puts back what it had replaced when a later one fails, the file itself with its times', async () => {
    const { root } = temporaryTree({ a: 'a', gone: 'g' });
    utimesSync(join(root, 'a'), 1, 2);
    const inode = statSync(join(root, 'a')).ino;
    const before = everything(root);
    let checks = 0;
    // Once all contents are staged: the rename of `x` fails.
    const check = (): void => {
      if (++checks === 2) mkdirSync(join(root, 'x'));
    };
    const changes = [
      change('a', 'A', 'a'),
      change('gone', null, 'g'),
      change('made', 'M', null),
      change('x', 'X'),
    ];
    const error = await errorOf(() => filesOf(root).writeAll(changes, { check }));
    expect(error.code).toBe('execution_failed');
    rmdirSync(join(root, 'x'));
    expect(everything(root)).toEqual(before);
    expect(statSync(join(root, 'a'))).toMatchObject({ ino: inode, mtimeMs: 2000 });
  });

  it('waits for whoever holds the directory, and takes a lock that a crash left behind', async () => {
    const { root } = temporaryTree({ a: 'a' });
    writeFileSync(join(root, LOCK), '');
    const time = new HeldTime();
    const written = filesOf(root).writeAll([change('a', 'A', 'a')]);
    await time.pass(2900);
    writeFileSync(join(root, LOCK), 'still busy');
    await time.pass(2900);
    expect(everything(root)).toEqual(expect.arrayContaining([`${LOCK}: still busy`, 'a: a']));
    await time.passUntil(written);
    expect(everything(root)).toEqual(['a: A']);
  });

  it('asks before every attempt whether it is still wanted', async () => {
    const { root } = temporaryTree({ a: 'a' });
    writeFileSync(join(root, LOCK), '');
    let asked = 0;
    const check = (): void => {
      if (++asked === 3) throw new Error('not any more');
    };
    await expect(filesOf(root).writeAll([change('a', 'A', 'a')], { check })).rejects.toThrow('not any more');
    expect(everything(root)).toEqual([`${LOCK}: `, 'a: a']);
  });

  it('loses no append to a replacement, however they meet', async () => {
    const { root } = temporaryTree({ log: '' });
    const files = filesOf(root);
    await Promise.all(
      Array.from({ length: 20 }, (__, index) => files.write('log', bytes(`${index}\n`), { mode: 'append' })),
    );
    expect(readFileSync(join(root, 'log'), 'utf8').split('\n')).toHaveLength(21);
    expect(existsSync(join(root, LOCK))).toBe(false);
  });
});
