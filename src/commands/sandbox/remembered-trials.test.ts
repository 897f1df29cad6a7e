import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doubtTrials, hasPassed, notePassed, rememberTrials } from './remembered-trials.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trials-'));
  file = join(folder, 'state', 'trials.json');
});
afterEach(() => {
  doubtTrials();
  rmSync(folder, { recursive: true });
});

/** Starts again, like a new process. */
const begin = (version = '1.0.0'): void => rememberTrials(file, version);

function remember(trial: string): void {
  begin();
  notePassed(trial);
  begin();
}

/** Writes other content to the file, which a new process then finds. */
function rewrite(change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  begin();
}

const isLinux = process.platform === 'linux';

describe.skipIf(!isLinux)('rememberTrials()', () => {
  it('keeps passed trials for later processes, in a file for this user alone', () => {
    remember('a');
    expect(hasPassed('a')).toBe(true);
    expect(hasPassed('b')).toBe(false);
    notePassed('b');
    begin();
    expect([hasPassed('a'), hasPassed('b')]).toEqual([true, true]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('keeps nothing without a file', () => {
    doubtTrials();
    notePassed('a');
    expect(hasPassed('a')).toBe(false);
  });

  it('keeps trials that another process has added in the meantime', () => {
    remember('a');
    expect(hasPassed('a')).toBe(true);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"a"', '"a","theirs"'));
    notePassed('mine');
    begin();
    expect(['a', 'theirs', 'mine'].map(hasPassed)).toEqual([true, true, true]);
  });

  it('keeps the newest hundred', () => {
    begin();
    for (let index = 0; index < 101; index++) notePassed(`${index}`);
    begin();
    expect(['0', '1', '100'].map(hasPassed)).toEqual([false, true, true]);
  });

  it.each([
    ['boot', /boot [0-9a-f]/],
    ['kernel', /system linux \d/],
    ['mount namespace', /namespace mnt:\[\d/],
    ['user', /Uid:\\t\d/],
    ['filter of system calls', /Seccomp:\\t\d/],
    ['setting of the kernel', /setting user\/max_user_namespaces \d/],
    ['bubblewrap', /program bwrap \S/],
  ])('ignores a file about another %s', (_, fact) => {
    remember('a');
    rewrite((text) => text.replace(fact, (found) => `${found.slice(0, -1)}x`));
    expect(hasPassed('a')).toBe(false);
  });

  it('ignores a file of another version', () => {
    remember('a');
    begin('1.0.1');
    expect(hasPassed('a')).toBe(false);
  });

  it.each([
    ['torn', (text: string) => text.slice(0, -5)],
    ['empty', () => ''],
    ['of another shape', () => '["a"]'],
    ['with a text for a list', (text: string) => text.replace(/\["a"\]/, '"a"')],
  ])('ignores a file that is %s, and replaces it', (_, damage) => {
    remember('a');
    rewrite(damage);
    expect(hasPassed('a')).toBe(false);
    remember('a');
    expect(hasPassed('a')).toBe(true);
  });

  it('ignores a file that others may read, or a directory that others may write', () => {
    remember('a');
    chmodSync(file, 0o640);
    begin();
    expect(hasPassed('a')).toBe(false);
    chmodSync(file, 0o600);
    chmodSync(join(folder, 'state'), 0o777);
    begin();
    expect(hasPassed('a')).toBe(false);
    const before = readFileSync(file, 'utf8');
    notePassed('b');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it.skipIf(process.getuid?.() !== 0)('ignores a file of another user (only root can make one)', () => {
    remember('a');
    chownSync(file, 12_345, 12_345);
    begin();
    expect(hasPassed('a')).toBe(false);
  });
});

describe.skipIf(!isLinux)('doubtTrials()', () => {
  it('forgets all trials, and remembers no further ones of this process', () => {
    remember('a');
    doubtTrials();
    expect(existsSync(file)).toBe(false);
    notePassed('b');
    expect(existsSync(file)).toBe(false);
    begin();
    expect([hasPassed('a'), hasPassed('b')]).toEqual([false, false]);
  });
});
