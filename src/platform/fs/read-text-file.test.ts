import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realPlace } from './probe-place.js';
import { readTextFile } from './read-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-read-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(content: string | Uint8Array): string {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  return path;
}

describe('readTextFile()', () => {
  it('reads text, without its byte order mark', () => {
    expect(readTextFile(file('\ufeffGrüße'), 100)).toBe('Grüße');
    expect(readTextFile(file(''), 100)).toBe('');
    expect(readTextFile(file('x'.repeat(200_000)), 200_000)).toHaveLength(200_000);
  });

  it.each([
    [Buffer.from([0xc3]), 'it is not UTF-8.'],
    [Buffer.from([0xed, 0xa0, 0x80]), 'it is not UTF-8.'],
    [Buffer.from('a\0b'), 'it is binary.'],
    [Buffer.from('\ufeffa', 'utf16le'), 'it is UTF-16.'],
    [Buffer.from('12345678901'), 'it is larger than 10 bytes.'],
  ])('refuses bytes that are not text: %#', (content, reason) => {
    expect(() => readTextFile(file(content), 10)).toThrow(reason);
  });

  it('says what is wrong with the path', () => {
    symlinkSync('loop', join(folder, 'loop'));
    for (const [name, reason] of [
      ['none', 'it does not exist.'],
      ['.', 'it is a directory.'],
      ['loop', 'its symbolic links lead in a circle.'],
      ['x'.repeat(300), 'its name is too long.'],
    ] as const) {
      expect(() => readTextFile(join(folder, name), 10)).toThrow(reason);
    }
  });

  it.skipIf(process.platform === 'win32')('reads a pipe, but not more than allowed', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const feed = (text: string): string => `(printf '${text}' > '${pipe}') &`;
    execFileSync('sh', ['-c', `${feed('from a pipe')} :`], { stdio: 'ignore' });
    expect(readTextFile(pipe, 100)).toBe('from a pipe');
    execFileSync('sh', ['-c', `${feed('too much')} :`], { stdio: 'ignore' });
    expect(() => readTextFile(pipe, 3)).toThrow('larger than 3 bytes');
  });
});

describe('realPlace()', () => {
  it('follows links as far as the path exists, and keeps the rest', () => {
    symlinkSync(folder, join(folder, 'link'));
    expect(realPlace(join(folder, 'link', 'new', 'file'))).toBe(join(realPlace(folder), 'new', 'file'));
    expect(realPlace(join(folder, 'link'))).toBe(realPlace(folder));
    expect(realPlace('/')).toBe('/');
  });
});
