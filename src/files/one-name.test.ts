import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { descriptorOpener, verifiedOpener } from '../platform/fs/open-handle.js';
import { createContainment } from './containment.js';
import { sandboxOf } from './create-sandbox.js';
import { errorOf } from './fixtures/error-of.js';
import { temporaryTree } from './fixtures/temporary-tree.js';
import type { SandboxOptions } from './sandbox-options.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const REFUSED = { code: 'sandbox_violation', details: { reason: 'PathOutsideSandbox', rule: 'hardLinks' } };

describe.each([
  ['descriptors', descriptorOpener],
  ['verified paths', verifiedOpener],
])('hard links, by way of %s,', (_, opener) => {
  const sandbox = (options: SandboxOptions) => sandboxOf(createContainment(options, opener));

  /** A root whose file `hard` also has a name outside. */
  function linkedTree() {
    const tree = temporaryTree({
      a: 'A',
      'vendor/b': 'B',
      link: { link: 'hard' },
      '<outside>/secret': 'S',
    });
    linkSync(join(tree.outside, 'secret'), join(tree.root, 'hard'));
    linkSync(join(tree.outside, 'secret'), join(tree.root, 'vendor/hard'));
    return tree;
  }

  it('are files of the root unless it refuses them', async () => {
    const { root } = linkedTree();
    for (const options of [
      { roots: [root] },
      { roots: [{ path: root }] },
      { roots: [{ path: root, hardLinks: 'allow' as const }] },
    ]) {
      expect(Buffer.from(await sandbox(options).files.read('hard')).toString()).toBe('S');
    }
  });

  it('are neither read nor changed if the root refuses them, even behind a link', async () => {
    const { root, outside } = linkedTree();
    const { files, resolve, hold } = sandbox({ roots: [root], hardLinks: 'refuse' });
    for (const path of ['hard', 'link', 'vendor/hard']) {
      const attempts = [
        () => files.read(path),
        () => files.read(path, { offset: 0, length: 0 }),
        () => files.write(path, bytes('x'), { mode: 'overwrite' }),
        () => files.write(path, bytes('x'), { mode: 'append' }),
        () =>
          files.writeAll([
            { path: 'a', bytes: bytes('x') },
            { path, bytes: bytes('x') },
          ]),
        () => resolve(path),
        () => resolve(path, 'write'),
        () => hold(path),
      ];
      for (const attempt of attempts) expect(await errorOf(attempt), path).toMatchObject(REFUSED);
    }
    expect(await errorOf(() => files.rename('hard', 'other'))).toMatchObject(REFUSED);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('S');
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('A');
    expect(readdirSync(root).sort()).toEqual(['a', 'hard', 'link', 'vendor']);
  });

  it('are reported with rule, path and root', async () => {
    const { root } = linkedTree();
    const error = await errorOf(() => sandbox({ roots: [root], hardLinks: 'refuse' }).files.read('link'));
    expect(error.message).toContain(
      `Cannot use "link": the file ${JSON.stringify(join(root, 'hard'))} has 3 names`,
    );
    expect(error.message).toContain(`the root ${JSON.stringify(root)} refuses such files`);
    expect(error.details).toMatchObject({ attempted: 'link', matched: join(root, 'hard'), root });
  });

  it('follow the setting of their root, and of the innermost one if one lies in another', async () => {
    const { root, base } = linkedTree();
    mkdirSync(join(base, 'second'));
    linkSync(join(root, 'hard'), join(base, 'second/hard'));
    const roots = [root, { path: join(root, 'vendor'), hardLinks: 'refuse' as const }, join(base, 'second')];
    const { files } = sandbox({ roots, allowAbsolute: true });
    expect(Buffer.from(await files.read('hard')).toString()).toBe('S');
    expect(Buffer.from(await files.read(join(base, 'second/hard'))).toString()).toBe('S');
    expect(await errorOf(() => files.read('vendor/hard'))).toMatchObject(REFUSED);
    const inverse = sandbox({
      roots: [root, { path: join(root, 'vendor'), hardLinks: 'allow' }],
      hardLinks: 'refuse',
    });
    expect(Buffer.from(await inverse.files.read('vendor/hard')).toString()).toBe('S');
    expect(await errorOf(() => inverse.files.read('hard'))).toMatchObject(REFUSED);
  });

  it('leave files with one name, listing and removal alone', async () => {
    const { root, outside } = linkedTree();
    const { files } = sandbox({ roots: [root], hardLinks: 'refuse' });
    expect(Buffer.from(await files.read('a')).toString()).toBe('A');
    await files.write('a', bytes('new'), { mode: 'overwrite' });
    await files.write('fresh', bytes('new'), { mode: 'create' });
    expect((await files.list('.')).map(({ name }) => name).sort()).toEqual([
      'a',
      'fresh',
      'hard',
      'link',
      'vendor',
    ]);
    expect(await files.stat('hard')).toMatchObject({ type: 'file', size: 1 });
    await files.remove('hard');
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('S');
  });

  it.each([
    { roots: [{ path: '.', hardLinks: 'never' }] },
    { roots: [{ path: '.', hardlinks: 'refuse' }] },
    { roots: [{ hardLinks: 'refuse' }] },
    { roots: ['.'], hardLinks: true },
  ])('are not ruled by %j', async (options) => {
    writeFileSync(join(temporaryTree().root, 'a'), '');
    const make = async () => sandbox(options as SandboxOptions);
    expect((await errorOf(make)).code).toBe('config_invalid');
  });
});
