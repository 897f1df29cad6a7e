import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { descriptorOpener, verifiedOpener } from '../platform/fs/open-handle.js';
import { createContainment } from './containment.js';
import { sandboxOf } from './create-sandbox.js';
import { errorOf } from './fixtures/error-of.js';
import { temporaryTree } from './fixtures/temporary-tree.js';
import type { SandboxOptions } from './sandbox-options.js';

const OUTSIDE = { code: 'sandbox_violation', details: { reason: 'PathOutsideSandbox' } };
const DENIED = { code: 'sandbox_violation', details: { reason: 'DeniedPatternMatched' } };
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array) => new TextDecoder().decode(content);

/** Gives another writer time to interfere. */
const SLOWLY = async (): Promise<void> => {
  await new Promise((done) => setTimeout(done, 5));
};

describe.each([
  ['descriptors', descriptorOpener],
  ['verified paths', verifiedOpener],
])('files, by way of %s,', (_, opener) => {
  const filesOf = (root: string, options: Partial<SandboxOptions> = {}) =>
    sandboxOf(createContainment({ roots: [root], ...options }, opener)).files;

  describe('write', () => {
    it('creates, with missing parents, and reports the canonical path', async () => {
      const { root } = temporaryTree({ 'd/': '', l: { link: 'd' } });
      const outcome = await filesOf(root).write('l/new/deep/a.txt', bytes('one'), { mode: 'create' });
      expect(outcome).toEqual({ path: join(root, 'd/new/deep/a.txt'), created: true, bytesWritten: 3 });
      expect(readFileSync(outcome.path, 'utf8')).toBe('one');
    });

    it.each(['append', 'overwrite'] as const)(
      'ends an %s to a file that is swapped again and again',
      async (mode) => {
        const { root } = temporaryTree({ f: 'old' });
        const path = join(root, 'f');
        let swaps = 0;
        // Renamed away and back: the same content, but changed since it was examined.
        const intend = () => {
          swaps++;
          renameSync(path, `${path}.kept`);
          renameSync(`${path}.kept`, path);
        };
        const error = await errorOf(() => filesOf(root).write('f', bytes('new'), { mode, intend }));
        expect(error).toMatchObject({
          code: 'execution_failed',
          message: expect.stringContaining('another program has swapped'),
          details: { errno: 'EBUSY' },
        });
        expect(swaps).toBe(8);
        expect(readdirSync(root)).toEqual(['f']);
        expect(readFileSync(path, 'utf8')).toBe('old');
      },
    );

    it.each([undefined, async () => {}])(
      'replaces nothing that is called off while it waits',
      async (intend) => {
        const { root } = temporaryTree({ f: 'old' });
        let asked = 0;
        const check = (): void => {
          if (++asked > 1) throw new Error('called off');
        };
        const options = { check, ...(intend === undefined ? {} : { intend }) };
        const write = filesOf(root).write('f', bytes('new'), { mode: 'overwrite', ...options });
        await expect(write).rejects.toThrow('called off');
        asked = 0;
        const change = filesOf(root).writeAll([{ path: 'f', bytes: bytes('new') }], options);
        await expect(change).rejects.toThrow('called off');
        expect(readdirSync(root)).toEqual(['f']);
        expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old');
      },
    );

    it('appends what several writers bring at once to a file that is not there yet', async () => {
      const { root } = temporaryTree();
      const texts = Array.from({ length: 4 }, (_, index) => `line ${index}\n`);
      const from = texts.map((text) =>
        filesOf(root).write('log', bytes(text), { mode: 'append', intend: SLOWLY }),
      );
      await Promise.all(from);
      expect(readFileSync(join(root, 'log'), 'utf8').split('\n').sort()).toEqual(
        ['', ...texts.map((text) => text.trimEnd())].sort(),
      );
      expect(readdirSync(root)).toEqual(['log']);
    });

    it('overwrites and appends, and creates a missing file', async () => {
      const { root } = temporaryTree({ a: 'old' });
      const files = filesOf(root);
      expect(await files.write('a', bytes('new'), { mode: 'overwrite' })).toMatchObject({ created: false });
      expect(await files.write('a', bytes('er'), { mode: 'append' })).toMatchObject({
        created: false,
        bytesWritten: 2,
      });
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe('newer');
      expect(await files.write('b', bytes('x'), { mode: 'overwrite' })).toMatchObject({ created: true });
      expect(await files.write('c', bytes('x'), { mode: 'append' })).toMatchObject({ created: true });
      expect(readdirSync(root).sort()).toEqual(['a', 'b', 'c']);
    });

    it('keeps a file’s mode, and gives a new one the usual', async () => {
      const { root } = temporaryTree({ run: '#!' });
      const files = filesOf(root);
      chmodSync(join(root, 'run'), 0o751);
      await files.write('run', bytes('#!/bin/sh'), { mode: 'overwrite' });
      await files.write('run', bytes('\n'), { mode: 'append' });
      expect(statSync(join(root, 'run')).mode & 0o7777).toBe(0o751);
      await files.write('new', bytes(''), { mode: 'create' });
      expect(statSync(join(root, 'new')).mode & 0o7777).toBe(0o666 & ~process.umask());
    });

    it('replaces the file and leaves other names of it alone', async () => {
      const { root, outside } = temporaryTree({ '<outside>/shared': 'old' });
      linkSync(join(outside, 'shared'), join(root, 'hard'));
      await filesOf(root).write('hard', bytes('new'), { mode: 'append' });
      expect(readFileSync(join(root, 'hard'), 'utf8')).toBe('oldnew');
      expect(readFileSync(join(outside, 'shared'), 'utf8')).toBe('old');
    });

    it('follows a link inside the root and keeps the link', async () => {
      const { root } = temporaryTree({ 'd/target': 'old', l: { link: 'd/target' } });
      const outcome = await filesOf(root).write('l', bytes('new'), { mode: 'overwrite' });
      expect(outcome.path).toBe(join(root, 'd/target'));
      expect(readlinkSync(join(root, 'l'))).toBe('d/target');
      expect(readFileSync(join(root, 'd/target'), 'utf8')).toBe('new');
    });

    it('does not create what exists', async () => {
      const { root } = temporaryTree({ a: 'old', l: { link: 'a' } });
      for (const path of ['a', 'l']) {
        const error = await errorOf(() => filesOf(root).write(path, bytes('new'), { mode: 'create' }));
        expect(error).toMatchObject({ code: 'execution_failed', details: { errno: 'EEXIST' } });
        expect(error.message).toContain('already exists');
      }
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe('old');
    });

    it('refuses hostile places and leaves nothing anywhere', async () => {
      const { root, outside } = temporaryTree({
        '<outside>/secret': 'S',
        link: { link: '<outside>/secret' },
        dl: { link: '<outside>' },
        gone: { link: '<outside>/not-yet' },
        '.git/config': '',
        git: { link: '.git' },
      });
      const files = filesOf(root);
      for (const mode of ['create', 'overwrite', 'append'] as const) {
        for (const path of [
          'link',
          'dl/new.txt',
          'dl/d/new.txt',
          'gone',
          'gone/x',
          '../new.txt',
          join(root, 'abs'),
        ]) {
          expect(await errorOf(() => files.write(path, bytes('x'), { mode })), path).toMatchObject(OUTSIDE);
        }
        for (const path of [
          '.git/config',
          '.git/hooks/pre-commit',
          'git/config',
          '.mcp.json',
          'x/id_rsa',
          '.ssh/k',
        ]) {
          expect(await errorOf(() => files.write(path, bytes('x'), { mode })), path).toMatchObject(DENIED);
        }
      }
      expect(readdirSync(outside)).toEqual(['secret']);
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('S');
      expect(readdirSync(root).sort()).toEqual(['.git', 'dl', 'git', 'gone', 'link']);
    });

    it('refuses a link to nothing, and anything but a file', async () => {
      const { root } = temporaryTree({
        dangling: { link: 'nothing' },
        deep: { link: 'no/where' },
        'd/': '',
        f: '',
      });
      execFileSync('mkfifo', [join(root, 'fifo')]);
      const cases = {
        dangling: 'leads to nothing',
        deep: 'leads to nothing',
        'deep/x': 'leads to nothing',
        d: 'path is a directory, not a file',
        '.': 'path is a directory, not a file',
        fifo: 'not a regular file',
        'f/x': 'a part of its path is a file',
        'f/x/y': 'a part of its path is a file',
      };
      for (const [path, message] of Object.entries(cases)) {
        const error = await errorOf(() => filesOf(root).write(path, bytes('x'), { mode: 'overwrite' }));
        expect(error.code).toBe('execution_failed');
        expect(error.message).toContain(message);
      }
      expect(readdirSync(root).sort()).toEqual(['d', 'dangling', 'deep', 'f', 'fifo']);
    });

    it('leaves neither a temporary file nor a directory behind when a name is too long', async () => {
      const { root } = temporaryTree();
      for (const path of ['x'.repeat(256), `new/${'é'.repeat(128)}`, `${'y'.repeat(300)}/a`]) {
        expect(await errorOf(() => filesOf(root).write(path, bytes('x'), { mode: 'create' }))).toMatchObject({
          code: 'execution_failed',
          details: { errno: 'ENAMETOOLONG' },
        });
      }
      expect(readdirSync(root)).toEqual([]);
      await filesOf(root).write('x'.repeat(255), bytes('x'), { mode: 'create' });
    });

    it('takes bytes and a mode, nothing else', async () => {
      const { root } = temporaryTree();
      const write: (...args: never[]) => Promise<unknown> = filesOf(root).write;
      const cases = [
        ['a', 'text', { mode: 'create' }],
        ['a', bytes('x'), { mode: 'truncate' }],
        ['a', bytes('x'), undefined],
      ];
      for (const args of cases) {
        expect((await errorOf(() => write(...(args as never[])))).code).toBe('bad_args');
      }
      expect(readdirSync(root)).toEqual([]);
    });

    it('lets one of many creators win', async () => {
      const { root } = temporaryTree();
      const files = filesOf(root);
      const attempts = await Promise.allSettled(
        Array.from({ length: 20 }, (__, index) => files.write('a', bytes(`${index}`), { mode: 'create' })),
      );
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });

  describe('remove', () => {
    it('removes a file or a link, never what a link leads to', async () => {
      const { root, outside } = temporaryTree({
        a: '',
        'd/b': '',
        '<outside>/secret': 'S',
        link: { link: '<outside>/secret' },
        dl: { link: '<outside>' },
        ld: { link: 'd' },
        dangling: { link: 'x' },
      });
      const files = filesOf(root);
      for (const path of ['a', 'link', 'dangling', 'ld/b', 'ld']) await files.remove(path);
      expect(readdirSync(root).sort()).toEqual(['d', 'dl']);
      expect(readdirSync(join(root, 'd'))).toEqual([]);
      expect(await errorOf(() => files.remove('dl/secret'))).toMatchObject(OUTSIDE);
      await files.remove('dl');
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('S');
    });

    it('refuses directories, denied names and what is not there', async () => {
      const { root } = temporaryTree({ 'd/': '', '.git/config': '', '.env': '' });
      const files = filesOf(root);
      for (const path of ['d', '.']) {
        expect((await errorOf(() => files.remove(path))).message).toContain(
          'path is a directory, not a file',
        );
      }
      for (const path of ['.git/config', '.env', '.git']) {
        expect(await errorOf(() => files.remove(path))).toMatchObject(DENIED);
      }
      expect((await errorOf(() => files.remove('none'))).message).toContain('file not found: none');
      expect(existsSync(join(root, '.git/config'))).toBe(true);
    });
  });

  describe('rename', () => {
    it('moves a file or a link over what was there', async () => {
      const { root } = temporaryTree({ a: 'A', 'd/b': 'B', l: { link: 'd/b' }, ld: { link: 'd' } });
      const files = filesOf(root);
      await files.rename('a', 'ld/c');
      await files.rename('d/c', 'd/b');
      expect(readFileSync(join(root, 'd/b'), 'utf8')).toBe('A');
      await files.rename('l', 'm');
      expect(readlinkSync(join(root, 'm'))).toBe('d/b');
      expect(readdirSync(root).sort()).toEqual(['d', 'ld', 'm']);
    });

    it('refuses directories, denied and hostile places, and what is missing', async () => {
      const { root, outside } = temporaryTree({ a: 'A', 'd/': '', '.env': 'S', dl: { link: '<outside>' } });
      const files = filesOf(root);
      expect(await errorOf(() => files.rename('a', 'dl/a'))).toMatchObject(OUTSIDE);
      expect(await errorOf(() => files.rename('a', '../a'))).toMatchObject(OUTSIDE);
      expect(await errorOf(() => files.rename('.env', 'env.txt'))).toMatchObject(DENIED);
      expect(await errorOf(() => files.rename('a', '.git/hooks'))).toMatchObject(DENIED);
      expect((await errorOf(() => files.rename('d', 'e'))).message).toContain('path is a directory');
      expect((await errorOf(() => files.rename('a', 'd'))).message).toContain('path is a directory');
      expect((await errorOf(() => files.rename('none', 'e'))).message).toContain('file not found: none');
      expect((await errorOf(() => files.rename('a', 'no/dir/a'))).message).toContain('does not exist');
      expect(readdirSync(root).sort()).toEqual(['.env', 'a', 'd', 'dl']);
      expect(readdirSync(outside)).toEqual([]);
    });
  });

  it('works in a root that is itself reached by a link, and at a deep working directory', async () => {
    const { root, base } = temporaryTree({ 'd/a': 'A' });
    symlinkSync(root, join(base, 'alias'));
    mkdirSync(join(root, 'w'));
    const files = filesOf(join(base, 'alias'), { allowAbsolute: true, cwd: join(root, 'w') });
    expect(text(await files.read(join(base, 'alias/d/a')))).toBe('A');
    const outcome = await files.write('new', bytes('x'), { mode: 'create' });
    expect(outcome.path).toBe(join(root, 'w/new'));
  });
});
