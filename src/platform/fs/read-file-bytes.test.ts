import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readFileBytes } from './read-file-bytes.js';

const ANY = { maxBytes: 1000, acceptPipes: true };
const FILES = { maxBytes: 1000, acceptPipes: false };

describe('readFileBytes()', () => {
  it('reads a file to its end, and not one byte more than allowed', () => {
    const path = join(folder(), 'file');
    writeFileSync(path, 'x'.repeat(1000));
    expect(readFileBytes(path, FILES)).toHaveLength(1000);
    writeFileSync(path, 'x'.repeat(1001));
    expect(() => readFileBytes(path, FILES)).toThrow('it is larger than 1000 bytes.');
  });

  it('gives up a pipe to which nobody writes', () => {
    const path = join(folder(), 'pipe');
    execFileSync('mkfifo', [path]);
    // It blocks this thread, two seconds in all.
    const wait = vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
    onTestFinished(() => wait.mockRestore());
    expect(() => readFileBytes(path, ANY)).toThrow('this pipe has no writer.');
    const waitedMs = wait.mock.calls.reduce((sum, [, , , ms = 0]) => sum + ms, 0);
    expect(waitedMs).toBe(2000);
  });

  it('waits for a pipe whose writer is slow', async () => {
    const path = join(folder(), 'pipe');
    execFileSync('mkfifo', [path]);
    const program = 'exec 3<>"$1"; echo open; sleep 0.2; printf a >&3; sleep 0.2; printf b >&3';
    const writer = spawn('sh', ['-c', program, 'sh', path]);
    onTestFinished(() => void writer.kill());
    await once(writer.stdout, 'data');
    expect(Buffer.from(readFileBytes(path, ANY)).toString()).toBe('ab');
  });

  it('refuses pipes and devices at once where only files are wanted', () => {
    const path = join(folder(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect(() => readFileBytes(path, FILES)).toThrow('it is a pipe or a device.');
    expect(() => readFileBytes('/dev/zero', FILES)).toThrow('it is a pipe or a device.');
  });

  it('reads devices where they are accepted, and stops at one that has no end', () => {
    expect(readFileBytes('/dev/null', ANY)).toHaveLength(0);
    expect(() => readFileBytes('/dev/zero', ANY)).toThrow('it is larger than 1000 bytes.');
  });

  it.each([
    ['a directory', '.', 'it is a directory.'],
    ['a missing file', 'missing', 'it does not exist.'],
    ['a link that leads nowhere', 'dangling', 'it is a symbolic link that leads nowhere.'],
    ['a link to itself', 'circle', 'its symbolic links lead in a circle.'],
    ['a part of the path that is a file', 'file/x', 'a part of its path is a file'],
    ['a NUL character', 'a\0b', 'its name holds a NUL character.'],
  ])('says that it is %s', (_what, name, told) => {
    const root = folder();
    mkdirSync(join(root, 'inner'));
    writeFileSync(join(root, 'file'), '');
    symlinkSync('nowhere', join(root, 'dangling'));
    symlinkSync('circle', join(root, 'circle'));
    expect(() => readFileBytes(join(root, name), ANY)).toThrow(told);
  });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'toolexec-bytes-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}
