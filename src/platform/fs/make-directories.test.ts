import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { privateDirectory } from '../process/transaction-directory.js';
import { makePrivateDirectories } from './make-and-remove.js';
import { makeDirectories } from './make-directories.js';
import { openOutputDirectory } from './output-directory.js';
import { ensureSecretFile } from './secret-file.js';
import { writeNewFiles } from './write-new-files.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'make-directories-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('makeDirectories()', () => {
  it('makes those that are missing, with the mode that is asked for', () => {
    const before = process.umask(0);
    makeDirectories(join(directory, 'a', 'b'), 0o755);
    makeDirectories(join(directory, 'a', 'b', 'c', 'd'));
    process.umask(before);
    const modes = ['a', 'a/b', 'a/b/c', 'a/b/c/d'].map(
      (name) => statSync(join(directory, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o755, 0o755, 0o700, 0o700]);
  });

  it('goes through links to directories, and tells of those that lead nowhere', () => {
    mkdirSync(join(directory, 'there'));
    symlinkSync('there', join(directory, 'link'));
    makeDirectories(join(directory, 'link', 'a'));
    expect(statSync(join(directory, 'there', 'a')).isDirectory()).toBe(true);
    symlinkSync('nowhere', join(directory, 'dangling'));
    expect(() => makeDirectories(join(directory, 'dangling', 'a'))).toThrow(/ENOENT/);
    symlinkSync('circle', join(directory, 'circle'));
    expect(() => makeDirectories(join(directory, 'circle', 'a'))).toThrow(/ELOOP/);
  });
});

describe.skipIf(process.platform !== 'linux')('what makes directories where a person has named one', () => {
  it('comes back where the file system has no room for any', () => {
    expect(() => makeDirectories('/proc/none/a/b')).toThrow(/ENOENT/);
    expect(() => openOutputDirectory('/proc/none/outputs')).toThrow(/ENOENT/);
    expect(() => ensureSecretFile('/proc/none/key', () => 'secret')).toThrow(/ENOENT/);
    expect(() => writeNewFiles('/proc/none/x', [{ path: 'a/b', text: '', executable: false }])).toThrow(
      /ENOENT/,
    );
    makePrivateDirectories('/proc/none/a');
    expect(privateDirectory('/proc/none/a')).toBeUndefined();
  });

  it('takes no file for a directory', () => {
    writeFileSync(join(directory, 'file'), '', { mode: 0o600 });
    expect(privateDirectory(join(directory, 'file'))).toBeUndefined();
    expect(() => openOutputDirectory(join(directory, 'file', 'sub'))).toThrow(/ENOTDIR/);
  });

  it('is not used if other users could replace it', () => {
    const above = join(directory, 'above');
    const path = join(above, 'between', 'own');
    expect(privateDirectory(path)).toBe(path);
    for (const [mode, isOurs] of [
      [0o777, false],
      [0o1777, true],
      [0o773, false],
      [0o755, true],
    ] as const) {
      chmodSync(above, mode);
      expect(privateDirectory(path), mode.toString(8)).toBe(isOurs ? path : undefined);
    }
    if (process.getuid?.() !== 0) return;
    chownSync(above, 12_345, 12_345);
    expect(privateDirectory(path)).toBeUndefined();
  });
});
