import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
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

describe.each([
  ['descriptors', descriptorOpener],
  ['verified paths', verifiedOpener],
])('files, by way of %s,', (_, opener) => {
  const filesOf = (root: string, options: Partial<SandboxOptions> = {}) =>
    sandboxOf(createContainment({ roots: [root], ...options }, opener)).files;

  describe('read', () => {
    it('gives the bytes, whole or a range', async () => {
      const { root } = temporaryTree({ 'd/a.txt': 'hello world', empty: '', l: { link: 'd' } });
      const files = filesOf(root);
      expect(await files.read('d/a.txt')).toEqual(bytes('hello world'));
      expect(await files.read('empty')).toEqual(new Uint8Array());
      expect(text(await files.read('l/a.txt', { offset: 6 }))).toBe('world');
      expect(text(await files.read('d/a.txt', { offset: 0, length: 5 }))).toBe('hello');
      expect(text(await files.read('d/a.txt', { offset: 6, length: 100 }))).toBe('world');
      expect(await files.read('d/a.txt', { offset: 100 })).toEqual(new Uint8Array());
      for (const options of [{ offset: -1 }, { length: 1.5 }, { offset: Number.NaN }]) {
        expect((await errorOf(() => files.read('d/a.txt', options))).code).toBe('bad_args');
      }
    });

    it('fails for a file that is named as a directory, as the kernel does', async () => {
      const { root } = temporaryTree({ 'a.txt': 'a', 'd/b': 'b' });
      const files = filesOf(root);
      for (const name of ['a.txt/', 'a.txt/.', './a.txt//']) {
        const failures = [
          () => files.read(name),
          () => files.stat(name),
          () => files.list(name),
          () => files.write(name, bytes('b'), { mode: 'overwrite' }),
          () => files.remove(name),
        ];
        for (const failure of failures)
          expect((await errorOf(failure)).details).toMatchObject({ errno: 'ENOTDIR' });
      }
      expect(
        (await errorOf(() => files.write('new/', bytes('b'), { mode: 'overwrite' }))).details,
      ).toMatchObject({
        errno: 'EISDIR',
      });
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a');
      expect((await files.list('d/')).map((entry) => entry.name)).toEqual(['b']);
    });

    it('reads more than one megabyte unchanged', async () => {
      const { root, add } = temporaryTree();
      add({ big: '0123456789abcdef'.repeat(200_000) });
      expect(Buffer.compare(await filesOf(root).read('big'), readFileSync(join(root, 'big')))).toBe(0);
    });

    it('says what is wrong in words that name the path', async () => {
      const { root } = temporaryTree({ 'd/': '', 'a.txt': '', dangling: { link: 'nothing' } });
      const files = filesOf(root);
      const cases = {
        'no/such file.txt': ['file not found: no/such file.txt', 'ENOENT'],
        'no.txt': ['file not found: no.txt', 'ENOENT'],
        dangling: ['file not found: dangling', 'ENOENT'],
        d: ['path is a directory, not a file', 'EISDIR'],
        '.': ['path is a directory, not a file', 'EISDIR'],
        'a.txt/b': ['file not found: a.txt/b', 'ENOTDIR'],
        ['x'.repeat(300)]: ['name too long', 'ENAMETOOLONG'],
      };
      for (const [path, [message, errno]] of Object.entries(cases)) {
        const error = await errorOf(() => files.read(path));
        expect(error).toMatchObject({ code: 'execution_failed', details: { errno } });
        expect(error.message).toContain(message);
        expect(error.message).not.toContain('/proc/');
      }
    });

    it('neither waits for a pipe nor opens a socket', async () => {
      const { root } = temporaryTree({ l: { link: 'fifo' } });
      execFileSync('mkfifo', [join(root, 'fifo')]);
      const server = createServer().listen(join(root, 'socket'));
      await new Promise((resolve) => server.once('listening', resolve));
      for (const path of ['fifo', 'l', 'socket']) {
        const error = await errorOf(() => filesOf(root).read(path));
        expect(error.code).toBe('execution_failed');
        expect(error.message).toContain('not a regular file');
      }
      server.close();
    });

    it('refuses what is denied, outside, or reached by a hostile link', async () => {
      const { root } = temporaryTree({
        '.env': 'S',
        '.env.example': 'A',
        '<outside>/secret': 'S',
        link: { link: '<outside>/secret' },
        dl: { link: '<outside>' },
        alias: { link: '.env' },
        '.env.local': { link: '.env.example' },
      });
      const files = filesOf(root);
      for (const path of ['link', 'dl/secret', 'dl', '../outside/secret', join(root, '.env.example')]) {
        expect(await errorOf(() => files.read(path)), path).toMatchObject(OUTSIDE);
      }
      for (const path of ['.env', 'alias', '.env.local', '.ENV']) {
        expect(await errorOf(() => files.read(path)), path).toMatchObject(DENIED);
      }
      expect(text(await files.read('.env.example'))).toBe('A');
    });
  });

  describe('list', () => {
    it('names what is there with its kind, and leaves out what is denied', async () => {
      const { root } = temporaryTree({
        'd/a': '',
        'd/sub/': '',
        'd/l': { link: 'a' },
        'd/out': { link: '<outside>' },
        'd/server.pem': '',
        'd/.ssh/k': '',
        'd/.env.example': '',
        alias: { link: 'd' },
      });
      execFileSync('mkfifo', [join(root, 'd/fifo')]);
      const entries = [
        { name: '.env.example', type: 'file' },
        { name: 'a', type: 'file' },
        { name: 'fifo', type: 'other' },
        { name: 'l', type: 'symlink' },
        { name: 'out', type: 'symlink' },
        { name: 'sub', type: 'dir' },
      ];
      const files = filesOf(root);
      for (const path of ['d', 'alias']) {
        const sorted = [...(await files.list(path))].sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(sorted).toEqual(entries);
      }
      expect((await files.list('.')).map(({ name }) => name).sort()).toEqual(['alias', 'd']);
      const byPlace = filesOf(root, { deniedPatterns: ['alias/a'] });
      expect((await byPlace.list('alias')).map(({ name }) => name)).not.toContain('a');
      expect((await byPlace.list('d')).map(({ name }) => name)).toContain('a');
    });

    it('refuses a path that is denied, outside, missing or not a directory', async () => {
      const { root } = temporaryTree({ '.ssh/k': '', f: '', dl: { link: '<outside>' } });
      const files = filesOf(root);
      expect(await errorOf(() => files.list('.ssh'))).toMatchObject(DENIED);
      expect(await errorOf(() => files.list('dl'))).toMatchObject(OUTSIDE);
      expect((await errorOf(() => files.list('none'))).message).toContain('not found');
      for (const path of ['f', 'f/x']) {
        const error = await errorOf(() => files.list(path));
        expect(error.code).toBe('execution_failed');
        expect(error.message).toContain('path is not a directory');
      }
    });
  });

  describe('stat', () => {
    it('speaks of the entry itself', async () => {
      const { root } = temporaryTree({
        'd/a': '12345',
        l: { link: 'd/a' },
        out: { link: '<outside>/x' },
        ld: { link: 'd' },
      });
      const files = filesOf(root);
      const { mtimeMs } = lstatSync(join(root, 'd/a'));
      expect(await files.stat('d/a')).toEqual({ type: 'file', size: 5, modifiedMs: mtimeMs });
      expect(await files.stat('ld/a')).toEqual({ type: 'file', size: 5, modifiedMs: mtimeMs });
      for (const [path, type] of Object.entries({
        d: 'dir',
        '.': 'dir',
        l: 'symlink',
        out: 'symlink',
        ld: 'symlink',
      })) {
        expect(await files.stat(path)).toMatchObject({ type });
      }
      expect((await errorOf(() => files.stat('none'))).message).toContain('file not found: none');
      expect((await errorOf(() => files.stat('no/ne'))).message).toContain('file not found: no/ne');
      expect(await errorOf(() => files.stat('out/x'))).toMatchObject(OUTSIDE);
      expect(await errorOf(() => files.stat('.env'))).toMatchObject(DENIED);
    });

    it('speaks of several entries as of each, and of none that it would refuse', async () => {
      const { root } = temporaryTree({
        'd/a': '12345',
        'd/.env': 'secret',
        'd/l': { link: 'a' },
        'd/out': { link: '<outside>/x' },
        'd/sub/deep': '',
        alias: { link: 'd' },
        away: { link: '<outside>' },
      });
      const files = filesOf(root);
      for (const path of ['d', 'alias']) {
        const told = await files.statEntries?.(path, ['a', 'l', 'out', 'sub']);
        expect(told).toEqual(
          await Promise.all(['a', 'l', 'out', 'sub'].map((name) => files.stat(`d/${name}`))),
        );
        const nothing = ['.env', 'none', '', '.', '..', '../d', 'sub/deep', 'a\0', 'x'.repeat(300)];
        expect(await files.statEntries?.(path, nothing)).toEqual(nothing.map(() => undefined));
      }
      expect(await errorOf(async () => files.statEntries?.('away', []))).toMatchObject(OUTSIDE);
      expect((await errorOf(async () => files.statEntries?.('d/a', []))).message).toContain(
        'not a directory',
      );
    });
  });
});
