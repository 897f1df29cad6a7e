import { mkdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.js';
import { errorOf } from './fixtures/error-of.js';
import { temporaryTree } from './fixtures/temporary-tree.js';

const OUTSIDE = { code: 'sandbox_violation', details: { reason: 'PathOutsideSandbox' } };
const DENIED = { code: 'sandbox_violation', details: { reason: 'DeniedPatternMatched' } };

describe('resolve (D046, D047)', () => {
  it('gives the canonical path of what exists and of what does not', () => {
    const { root } = temporaryTree({ 'd/a.txt': '', '.../a': '', '..foo': '', 'a..': '' });
    const sandbox = createSandbox({ roots: [root] });
    const cases = { '.': '', './d//./a.txt': 'd/a.txt', '.../a': '.../a', '..foo': '..foo', 'a..': 'a..' };
    for (const [asked, inside] of Object.entries(cases))
      expect(sandbox.resolve(asked)).toBe(join(root, inside));
    expect(sandbox.resolve('d/new/deeper.txt', 'write')).toBe(join(root, 'd/new/deeper.txt'));
    expect(sandbox.resolve('d/')).toBe(join(root, 'd'));
    expect(sandbox.resolve('%2e%2e/x')).toBe(join(root, '%2e%2e/x'));
  });

  it.each(['..', '../x', 'd/../a.txt', 'a/..', './..'])(
    'refuses %s: no ".." is followed (D131)',
    async (path) => {
      const { root } = temporaryTree({ 'd/': '', 'a.txt': '' });
      const sandbox = createSandbox({ roots: [root], allowAbsolute: true });
      expect(await errorOf(() => sandbox.resolve(path))).toMatchObject(OUTSIDE);
      expect(await errorOf(() => sandbox.resolve(join(root, 'x').concat('/../a')))).toMatchObject(OUTSIDE);
    },
  );

  it('refuses absolute paths unless they are allowed, and outside the roots always (D132)', async () => {
    const { root, outside, base, add } = temporaryTree({
      'a.txt': '',
      '<outside>/s': '',
      '<root>-evil/s': '',
    });
    const strict = createSandbox({ roots: [root] });
    const open = createSandbox({ roots: [root], allowAbsolute: true });
    expect(await errorOf(() => strict.resolve(join(root, 'a.txt')))).toMatchObject(OUTSIDE);
    expect(open.resolve(join(root, 'a.txt/'))).toBe(join(root, 'a.txt'));
    expect(open.resolve(root)).toBe(root);
    expect(open.resolve(join(root, 'new/file'))).toBe(join(root, 'new/file'));
    for (const path of [join(outside, 's'), `${root}-evil/s`, '/', base, '/proc/self/root/etc/passwd']) {
      expect(await errorOf(() => open.resolve(path))).toMatchObject(OUTSIDE);
    }
    add({ '<outside>/way-in': { link: '<root>' } });
    expect(open.resolve(join(outside, 'way-in/a.txt'))).toBe(join(root, 'a.txt'));
  });

  it.each([
    ['', 'blank'],
    ['  ', 'blank'],
    ['a\nb\u001b[31m', 'control'],
    ['a\0b', 'control'],
    ['a\u202eb', 'control'],
    ['a\ud800b', 'Unicode'],
    ['x/'.repeat(3000), 'longer'],
  ])('calls %j no path at all', async (path, why) => {
    const { root } = temporaryTree();
    const error = await errorOf(() => createSandbox({ roots: [root] }).resolve(path));
    expect(error.code).toBe('bad_args');
    expect(error.message).toContain(why);
    // Text for a person has no control characters.
    expect(error.message).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('refuses a path that is not a string', async () => {
    const { root } = temporaryTree();
    const resolve: (path: never) => unknown = createSandbox({ roots: [root] }).resolve;
    for (const path of [undefined, null, 7, {}, ['a']]) {
      expect((await errorOf(() => resolve(path as never))).code).toBe('bad_args');
    }
  });

  it('follows links inside the root, relative, absolute, chained, upwards and by another spelling of the root', () => {
    const { root, base, add } = temporaryTree({
      'd/e/x.txt': '',
      rel: { link: 'd/e' },
      abs: { link: '<root>/d' },
      'd/up': { link: '../d/e/../../rel' },
      chain: { link: 'abs/up/' },
      self: { link: '.' },
    });
    add({ byName: { link: `../${relative(base, root)}/d` } });
    symlinkSync(root, join(base, 'alias'));
    add({ byAlias: { link: join(base, 'alias/d') } });
    const sandbox = createSandbox({ roots: [join(base, 'alias')], allowAbsolute: true });
    expect(sandbox.roots).toEqual([root]);
    const x = join(root, 'd/e/x.txt');
    for (const path of ['rel/x.txt', 'abs/e/x.txt', 'd/up/x.txt', 'chain/x.txt', 'self/self/rel/x.txt']) {
      expect(sandbox.resolve(path)).toBe(x);
    }
    expect(sandbox.resolve('byName/e/x.txt')).toBe(x);
    expect(sandbox.resolve('byAlias/e/x.txt')).toBe(x);
    expect(sandbox.resolve(join(base, 'alias/rel/x.txt'))).toBe(x);
    expect(sandbox.resolve('chain/new.txt')).toBe(join(root, 'd/e/new.txt'));
  });

  it('refuses links that lead out, dangle outside, or go in a circle (D101)', async () => {
    const { root } = temporaryTree({
      '<outside>/s.txt': '',
      file: { link: '<outside>/s.txt' },
      dir: { link: '<outside>' },
      up: { link: '../outside' },
      dangling: { link: '<outside>/nothing' },
      hop: { link: 'dir' },
      l1: { link: 'l2' },
      l2: { link: '<root>/l1' },
      loop: { link: 'loop' },
      procRoot: { link: '/proc/self/root' },
    });
    const sandbox = createSandbox({ roots: [root] });
    const paths = [
      'file',
      'dir',
      'dir/s.txt',
      'dir/new',
      'up/s.txt',
      'dangling',
      'hop/x',
      'l1',
      'loop',
      'loop/x',
    ];
    for (const path of [...paths, 'procRoot/etc']) {
      expect(await errorOf(() => sandbox.resolve(path)), path).toMatchObject(OUTSIDE);
      expect(await errorOf(() => sandbox.files.read(path)), path).toMatchObject(OUTSIDE);
    }
  });

  it('says which link leads out, and of which roots', async () => {
    const { root, base } = temporaryTree({ 'd/up': { link: '../../outside' }, hop: { link: 'd/up' } });
    const one = createSandbox({ roots: [root], allowAbsolute: true });
    expect((await errorOf(() => one.resolve('hop/x'))).message).toBe(
      `Cannot use "hop/x": the link "${root}/d/up" in its path leads outside the roots. Use a path inside the root "${root}".`,
    );
    const two = createSandbox({ roots: [root, join(root, 'd')], allowAbsolute: true });
    expect((await errorOf(() => two.resolve(base))).message).toBe(
      `Cannot use "${base}": it lies outside the roots. Use a path inside one of the roots "${root}", "${root}/d".`,
    );
    for (const path of ['../x', 'd/../x']) {
      expect((await errorOf(() => one.resolve(path))).message).toBe(
        `Cannot use "${path}": a ".." component is never followed. Use a path inside the root "${root}".`,
      );
    }
  });

  it('follows at most forty links', async () => {
    const { root, add } = temporaryTree({ l0: 'end' });
    for (let index = 1; index <= 41; index++) add({ [`l${index}`]: { link: `l${index - 1}` } });
    const sandbox = createSandbox({ roots: [root] });
    expect(sandbox.resolve('l40')).toBe(join(root, 'l0'));
    expect(await errorOf(() => sandbox.resolve('l41'))).toMatchObject(OUTSIDE);
  });

  it('denies by the asked name, by every name on the way and by the real one (D133, A010)', async () => {
    const { root } = temporaryTree({
      '.ssh/config': '',
      'plain/config': '',
      alias: { link: '.ssh' },
      'key.pem': { link: 'plain/config' },
      'x/.aws': { link: '../plain' },
      detour: { link: 'x/.aws' },
      absolute: { link: '<root>/x/.aws/config' },
    });
    const sandbox = createSandbox({ roots: [root] });
    for (const path of [
      'alias/config',
      'alias',
      'key.pem',
      'detour/config',
      'detour',
      'absolute',
      '.ssh/none',
    ]) {
      const error = await errorOf(() => sandbox.resolve(path));
      expect(error, path).toMatchObject(DENIED);
      expect(error.message).toContain(JSON.stringify(path));
      expect(error.message).toContain(String(error.details.pattern));
    }
    expect(await errorOf(() => sandbox.resolve('~/.ssh/id_rsa'))).toMatchObject(DENIED);
    const bare = createSandbox({ roots: [root], includeDefaultDenies: false });
    expect(bare.resolve('alias/config')).toBe(join(root, '.ssh/config'));
  });

  it('tells writing from reading', async () => {
    const { root } = temporaryTree({ '.git/config': '', 'docs/a': '' });
    const sandbox = createSandbox({ roots: [root], deniedWritePatterns: ['docs/**'] });
    expect(sandbox.resolve('.git/config')).toBe(join(root, '.git/config'));
    for (const path of ['.git/config', '.git/new', 'docs/a', 'docs']) {
      expect(await errorOf(() => sandbox.resolve(path, 'write'))).toMatchObject(DENIED);
    }
  });

  it('starts relative paths at the working directory', async () => {
    const { root } = temporaryTree({ 'a/b/': '', 'a/l': { link: '..' } });
    const sandbox = createSandbox({ roots: [root], cwd: join(root, 'a') });
    expect(sandbox.cwd).toBe(join(root, 'a'));
    expect(sandbox.resolve('b')).toBe(join(root, 'a/b'));
    expect(sandbox.resolve('l/a/b')).toBe(join(root, 'a/b'));
    expect(await errorOf(() => sandbox.resolve('../a'))).toMatchObject(OUTSIDE);
  });

  it('reaches from one root into another, even a nested one', async () => {
    const { root, outside } = temporaryTree({
      '<outside>/o.txt': '',
      'in/n.txt': '',
      over: { link: '<outside>' },
      'in/back': { link: '../over/o.txt' },
    });
    const sandbox = createSandbox({
      roots: [join(root, 'in'), root, outside],
      deniedPatterns: ['n.tx?/x', 'in/z'],
    });
    expect(sandbox.cwd).toBe(join(root, 'in'));
    expect(sandbox.resolve('back')).toBe(join(outside, 'o.txt'));
    expect(sandbox.resolve('n.txt')).toBe(join(root, 'in/n.txt'));
    // The pattern applies to every root that contains the path.
    expect(await errorOf(() => sandbox.resolve('z'))).toMatchObject(DENIED);
  });
});

describe('createSandbox (D045)', () => {
  it('refuses unknown options, and values of the wrong kind', async () => {
    const { root } = temporaryTree();
    const build: (options: never) => unknown = createSandbox;
    const wrong = [
      null,
      { roots: root },
      { roots: [root], deniedPatterns: '*.log' },
      { roots: [root], allowAbsolute: 'yes' },
      { roots: [root], includeDefaultDenies: 0 },
      { roots: [root], denied: [] },
    ];
    for (const options of wrong) {
      const { code } = await errorOf(() => build(options as never));
      expect(code, JSON.stringify(options)).toBe('config_invalid');
    }
  });

  it('needs roots that exist, a working directory in them, and whole patterns', async () => {
    const { root, outside, add } = temporaryTree({ file: '' });
    add({ 'd/': '' });
    const cases = [
      { roots: [] },
      { roots: [join(root, 'missing')] },
      { roots: [join(root, 'file')] },
      { roots: [''] },
      { roots: [root], cwd: outside },
      { roots: [root], cwd: join(root, 'missing') },
      { roots: [root], deniedPatterns: ['[invalid'] },
      { roots: [root], deniedWritePatterns: ['{a'] },
    ];
    for (const options of cases) {
      expect((await errorOf(() => createSandbox(options))).code, JSON.stringify(options)).toBe(
        'config_invalid',
      );
    }
  });

  it('names the link itself where it is to be deleted, and where it leads otherwise', async () => {
    const { root, outside } = temporaryTree({ 'd/a.txt': '', '<outside>/s': '' });
    symlinkSync(join(outside, 's'), join(root, 'out'));
    symlinkSync('d/a.txt', join(root, 'in'));
    symlinkSync(outside, join(root, 'gate'));
    const sandbox = createSandbox({ roots: [root] });
    expect(sandbox.resolve('out', 'delete')).toBe(join(root, 'out'));
    expect(sandbox.resolve('in', 'delete')).toBe(join(root, 'in'));
    expect(sandbox.resolve('in', 'write')).toBe(join(root, 'd/a.txt'));
    expect(await errorOf(() => sandbox.resolve('out', 'write'))).toMatchObject(OUTSIDE);
    expect(await errorOf(() => sandbox.resolve('gate/s', 'delete'))).toMatchObject(OUTSIDE);
  });

  it('continues with a root that was created again, and refuses one that became a link', async () => {
    const { root, outside, base } = temporaryTree({ 'in/a': '', '<outside>/a': '' });
    const inner = join(root, 'in');
    const { rmSync } = await import('node:fs');
    const sandbox = createSandbox({ roots: [inner] });
    rmSync(inner, { recursive: true });
    mkdirSync(inner);
    await sandbox.files.write('b', new Uint8Array([1]), { mode: 'create' });
    expect(sandbox.resolve('b')).toBe(join(inner, 'b'));
    rmSync(inner, { recursive: true });
    symlinkSync(outside, inner);
    expect(await errorOf(() => sandbox.files.read('a'))).toMatchObject(OUTSIDE);
    expect(await errorOf(() => sandbox.resolve('a'))).toMatchObject(OUTSIDE);
    expect(base).not.toBe(root);
  });
});
