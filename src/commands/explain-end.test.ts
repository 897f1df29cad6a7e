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

const REQUEST = { cwd: '/work', env: { HOME: '/home/ada' } };

describe('which files the sandbox refused, by the last words of a command', () => {
  it.each([
    ["touch: cannot touch '/usr/x': Read-only file system", ['write_outside']],
    ["Error: EROFS: read-only file system, mkdir '/etc/x'", ['write_outside']],
    ['java.io.FileNotFoundException: /usr/x (Read-only file system)', ['write_outside']],
    ['error: could not lock config file .git/config: Device or resource busy', ['write_outside']],
    ["rm: cannot remove 'p/k.pem': Device or resource busy", ['hidden_file']],
    ['error: .npmrc: can only add regular files, symbolic links or git-directories', ['hidden_file']],
    ["head: cannot open 'p/k.pem' for reading: Permission denied", ['hidden_file']],
    ['./build.sh: Permission denied', []],
    ["rm: cannot remove 'sub/.git/config': Device or resource busy", ['write_outside']],
    ['fatal: not a git repository: /home/ada/main/.git/worktrees/x', []],
    ['fatal: not a git repository (or any of the parent directories): .git', []],
    ['curl: (6) Could not resolve host: example.com', []],
    ["FileNotFoundError: [Errno 2] No such file or directory: '.npmrc'", ['hidden_file']],
    ['node: .npmrc: not found', ['hidden_file']],
    ['cat: .npmrc.example: No such file or directory', []],
    ['cat: sub/.npmrc: No such file or directory', []],
    ['cat: /no-such-top/x: No such file or directory', []],
    ['cat: /proc/version-of-none: No such file or directory', []],
    ['cat: /etc/hostname: No such file or directory', ['hidden_file']],
    ['cat: /etc/none.conf: No such file or directory', []],
    ['cat: /work/missing: No such file or directory', []],
    ['W: Unable to read /etc/hostname (2: No such file or directory)\nE: Invalid operation', []],
    ['1 test failed', []],
    ['OSError: [Errno 30] Read-only file system', []],
    ["  actual: 'Read-only file system',\n  expected: 'EROFS',", []],
    ['Author identity unknown\n\n*** Please tell me who you are.\n', []],
  ])('%j: %j', (said, refused) => {
    expect(refusedFiles(REQUEST, CONFINEMENT, said)).toEqual(refused);
  });

  it('resolves a name in the directory that the command has entered', () => {
    const touched = "touch: cannot touch 'x': Read-only file system";
    expect(refusedFiles({ ...REQUEST, command: 'cd /usr && touch x' }, CONFINEMENT, touched)).toEqual([
      'write_outside',
    ]);
    expect(refusedFiles({ ...REQUEST, command: 'touch x' }, CONFINEMENT, touched)).toEqual([]);
    const read = 'cat: k.pem: No such file or directory';
    expect(refusedFiles({ ...REQUEST, command: 'cd p; cat k.pem' }, CONFINEMENT, read)).toEqual([
      'hidden_file',
    ]);
    expect(refusedFiles({ ...REQUEST, command: 'cat k.pem' }, CONFINEMENT, read)).toEqual([]);
  });

  it('counts a missing directory above a new path of the command as a refused write', () => {
    const said = "mkdir: cannot create directory '/opt/none/x': No such file or directory";
    const request = { ...REQUEST, command: 'mkdir /opt/none/x', targets: ['/opt/none/x'] };
    expect(refusedFiles(request, CONFINEMENT, said)).toContain('write_outside');
    expect(refusedFiles(REQUEST, CONFINEMENT, said)).not.toContain('write_outside');
  });

  it('ignores an error message that the command line itself contains', () => {
    const said = "touch: cannot touch '/usr/x': Read-only file system";
    const command = `echo "${said}" >&2; exit 1`;
    expect(refusedFiles({ ...REQUEST, command }, CONFINEMENT, said)).toEqual([]);
    const raised = 'PermissionError: Permission denied: .npmrc';
    const python = `python3 -c 'raise PermissionError("Permission denied: .npmrc")'`;
    expect(refusedFiles({ ...REQUEST, command: python }, CONFINEMENT, raised)).toEqual([]);
  });

  it('gives the same answer about a hidden name, whether it exists or not', () => {
    const transactions = {
      mode: 'auto',
      places: [],
      maxMb: 1,
      onTimeout: 'discard',
      refusal: () => undefined,
      ruleRefusal: () => undefined,
      isHidden: (path: string) => path.endsWith('/.env'),
    } as const;
    for (const name of ['.env', 'never/there/.env']) {
      const said = `cat: ${name}: No such file or directory`;
      expect(refusedFiles(REQUEST, { ...CONFINEMENT, transactions }, said)).toEqual(['hidden_file']);
    }
  });
});
