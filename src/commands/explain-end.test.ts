import { describe, expect, it } from 'vitest';
import { refusedFiles } from './explain-end.js';

const HIDDEN = ['/work/.npmrc', '/work/p/k.pem'].map((path) => ({ path, type: 'file' }) as const);

const CONFINEMENT = {
  os: 'preferred',
  roots: ['/work'],
  readable: [],
  network: false,
  guarded: () => ({ hidden: HIDDEN, readOnly: [], missing: [], incomplete: false }),
} as const;

describe('which files the sandbox refused, by the last words of a command', () => {
  it.each([
    ["touch: cannot touch '/usr/x': Read-only file system", ['write_outside']],
    ['error: could not lock config file .git/config: Device or resource busy', ['write_outside']],
    ["rm: cannot remove 'p/k.pem': Device or resource busy", ['hidden_file']],
    ['error: .npmrc: can only add regular files, symbolic links or git-directories', ['hidden_file']],
    ["head: cannot open 'p/k.pem' for reading: Permission denied", ['hidden_file']],
    ['./build.sh: Permission denied', []],
    ["rm: cannot remove 'sub/.git/config': Device or resource busy", ['write_outside']],
    ['fatal: not a git repository: /home/ada/main/.git/worktrees/x', ['hidden_file']],
    ['curl: (6) Could not resolve host: example.com', []],
    ['cat: /home/ada/notes: No such file or directory', ['hidden_file']],
    ['Author identity unknown\n\n*** Please tell me who you are.\n', ['hidden_file']],
    ["FileNotFoundError: [Errno 2] No such file or directory: '.npmrc'", ['hidden_file']],
    ['cat: .npmrc.example: No such file or directory', []],
    ['cat: /no-such-top/x: No such file or directory', []],
    ["FileNotFoundError: [Errno 2] No such file or directory: '/home/ada/x'", ['hidden_file']],
    ['cat: /work/missing: No such file or directory', []],
    ['1 test failed', []],
  ])('%j: %j', (said, refused) => {
    expect(refusedFiles(CONFINEMENT, said)).toEqual(refused);
  });
});
