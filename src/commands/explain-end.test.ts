import { describe, expect, it } from 'vitest';
import { explainDenied } from './explain-end.js';

const HIDDEN = ['/work/.npmrc', '/work/p/k.pem'].map((path) => ({ path, type: 'file' }) as const);

const CONFINEMENT = {
  os: 'preferred',
  roots: ['/work'],
  readable: [],
  network: false,
  guarded: () => ({ hidden: HIDDEN, readOnly: [], missing: [], incomplete: false }),
} as const;

describe('what the sandbox has denied, by the last words of a command', () => {
  it.each([
    ["touch: cannot touch '/usr/x': Read-only file system", ['write']],
    ['error: could not lock config file .git/config: Device or resource busy', ['write']],
    ["rm: cannot remove 'p/k.pem': Device or resource busy", ['hidden']],
    ['error: .npmrc: can only add regular files, symbolic links or git-directories', ['hidden']],
    ["fatal: .npmrc: clean filter 'hidden-by-toolexec' failed", ['hidden']],
    ["head: cannot open 'p/k.pem' for reading: Permission denied", ['hidden']],
    ['./build.sh: Permission denied', []],
    ["rm: cannot remove 'sub/.git/config': Device or resource busy", ['write']],
    ['fatal: not a git repository: /home/ada/main/.git/worktrees/x', ['outside']],
    ['curl: (6) Could not resolve host: example.com', ['network']],
    ['cat: /home/ada/notes: No such file or directory', ['outside']],
    ['Author identity unknown\n\n*** Please tell me who you are.\n', ['outside']],
    ['cat: /work/missing: No such file or directory', []],
    ['1 test failed', []],
  ])('%j: %j', (said, denied) => {
    expect(explainDenied(CONFINEMENT, said)).toEqual(denied);
  });
});
