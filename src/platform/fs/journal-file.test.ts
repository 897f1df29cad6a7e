import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureJournalFile } from './journal-file.js';
import { syncDirectoryOf } from './sync-directory.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-file-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

const modeOf = (name: string): string => (statSync(join(directory, name)).mode & 0o777).toString(8);

describe('ensureJournalFile()', () => {
  it('makes the file and the directories that are missing for the owner only', () => {
    const before = process.umask(0);
    ensureJournalFile(join(directory, 'a', 'b', 'journal.db'));
    process.umask(before);
    expect(['a', 'a/b', 'a/b/journal.db'].map(modeOf)).toEqual(['700', '700', '600']);
  });

  it('leaves existing files unchanged', () => {
    mkdirSync(join(directory, 'a'));
    chmodSync(join(directory, 'a'), 0o755);
    writeFileSync(join(directory, 'a', 'journal.db'), 'content');
    chmodSync(join(directory, 'a', 'journal.db'), 0o640);
    ensureJournalFile(join(directory, 'a', 'journal.db'));
    expect(['a', 'a/journal.db'].map(modeOf)).toEqual(['755', '640']);
    expect(statSync(join(directory, 'a', 'journal.db')).size).toBe(7);
  });

  it.skipIf(process.platform !== 'linux')('comes back where nothing can be made', () => {
    expect(() => ensureJournalFile('/proc/toolexec/deep/journal.db')).toThrow(/ENOENT/);
    writeFileSync(join(directory, 'file'), '');
    expect(() => ensureJournalFile(join(directory, 'file', 'sub', 'journal.db'))).toThrow(/ENOTDIR/);
    expect(() => ensureJournalFile(join(directory, 'file', 'journal.db'))).toThrow(/ENOTDIR/);
  });
});

describe('syncDirectoryOf()', () => {
  it('takes a path whose directory is not there', () => {
    expect(() => syncDirectoryOf(join(directory, 'missing', 'journal.db'))).not.toThrow();
    expect(() => syncDirectoryOf(join(directory, 'journal.db'))).not.toThrow();
  });
});
