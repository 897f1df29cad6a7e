import { execFile, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { ToolResult } from '../src/contract/call.js';
import type { Effect } from '../src/contract/effect.js';
import { builtinTools } from '../src/executor/builtin-tools.js';
import { bundleProgram } from '../src/testing/fixtures/bundle-program.js';
import { eachOf } from '../src/testing/fixtures/each-of.js';
import { above, readTrace, type Touch } from './strace/read-trace.js';

const PROJECT = resolve(import.meta.dirname, '..');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Why the system calls cannot be watched here; undefined when they can. */
function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'strace is a program of Linux';
  const { error, status } = spawnSync('strace', ['-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace here';
}

interface Traced {
  readonly root: string;
  readonly effects: readonly Effect[];
  readonly result: ToolResult;
  readonly planned: readonly Touch[];
  readonly all: readonly Touch[];
}

async function trace(name: string, args: object, warmUp: object): Promise<Traced> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-strace-')));
  folders.push(root);
  for (const folder of ['dir', 'warm', 'other']) {
    mkdirSync(join(root, folder));
    for (const file of ['a.txt', 'b.txt']) writeFileSync(join(root, folder, file), `${folder} ${file}\n`);
  }
  symlinkSync('../dir/a.txt', join(root, 'other', 'to-a'));
  const output = `${root}.trace`;
  folders.push(output);
  const options = [
    '-f',
    '--seccomp-bpf',
    '-y',
    '-s',
    '300',
    '-o',
    output,
    '-e',
    'trace=%file,%desc,%process',
  ];
  const program = bundleProgram(join(PROJECT, 'test/strace/call-between-markers.ts'));
  const given = [root, name, JSON.stringify(args), JSON.stringify(warmUp)];
  const run = promisify(execFile);
  const { stdout } = await run('strace', [...options, process.execPath, program, ...given], {
    cwd: PROJECT,
  });
  const said = JSON.parse(stdout) as Pick<Traced, 'effects' | 'result'>;
  return { root, ...said, ...readTrace(readFileSync(output, 'utf8')) };
}

/** The undeclared accesses, in words; empty if the tool keeps its declaration. */
function undeclared({ root, effects, all }: Traced): string[] {
  const covers = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
  const placed = effects.flatMap((effect) => {
    const given = 'path' in effect ? join(root, effect.path) : root;
    return 'path' in effect ? [{ kind: effect.kind, given, at: realPlace(given) }] : [];
  });
  // The links of a path are examined, as are the directories above it.
  const onTheWay = new Set(placed.flatMap(({ given, at }) => [given, ...above(given), ...above(at)]));
  // A thread that allocates for the first time asks how many processors there are.
  const ownFiles = (path: string): boolean =>
    path === '/sys/devices/system/cpu/online' ||
    covers('/proc', path) ||
    covers(PROJECT, path) ||
    covers(realPlace(join(PROJECT, 'node_modules')), path);
  // New content is written beside its place, or in the directory above it that is there already.
  const isBeside = (at: string, path: string): boolean =>
    above(at).includes(dirname(path)) && /^\.toolexec-[0-9a-f]+\.tmp$/.test(basename(path));
  const isDeclared = ({ how, path }: Touch): boolean => {
    if (placed.some(({ kind, at }) => covers(at, path) && (how !== 'change' || kind !== 'read'))) return true;
    if (placed.some(({ kind, at }) => kind === 'write' && isBeside(at, path))) return true;
    if (how === 'look') return onTheWay.has(path) || covers(path, root) || ownFiles(path);
    if (!covers(root, path)) return how === 'content' && ownFiles(path);
    // Missing parent directories of a written file are created.
    return placed.some(({ kind, at }) => kind === 'write' && path !== root && above(at).includes(path));
  };
  return all.filter((touch) => !isDeclared(touch)).map(({ how, call, path }) => `${how}: ${call} ${path}`);
}

function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const reason = whyNot();

describe.skipIf(reason !== undefined)(
  `system calls of the built-in tools${reason === undefined ? '' : ` (not watched: ${reason})`}`,
  { timeout: 180_000 },
  () => {
    const files: readonly (readonly [string, object, object])[] = [
      ['read_file', { path: 'dir/a.txt' }, { path: 'warm/a.txt' }],
      [
        'read_file',
        { path: 'other/to-a', start_line: 1, end_line: 1 },
        { path: 'warm/a.txt', start_line: 1, end_line: 1 },
      ],
      ['list_directory', { path: 'dir' }, { path: 'warm' }],
      ['write_file', { path: 'dir/new/n.txt', content: 'x' }, { path: 'warm/new/n.txt', content: 'x' }],
      [
        'write_file',
        { path: 'dir/a.txt', content: 'x', mode: 'overwrite' },
        { path: 'warm/a.txt', content: 'x', mode: 'overwrite' },
      ],
      [
        'edit_file',
        { path: 'dir/a.txt', old_string: 'dir', new_string: 'x' },
        { path: 'warm/a.txt', old_string: 'warm', new_string: 'x' },
      ],
      [
        'apply_patch',
        { patch: 'LP1\nF dir/new/n.txt\nT\nx\n.\nF dir/m.txt\nT\nx\n.\nEND\n' },
        { patch: 'LP1\nF warm/new/n.txt\nT\nx\n.\nF warm/m.txt\nT\nx\n.\nEND\n' },
      ],
      [
        'write_file',
        { path: 'dir/a.txt', content: 'x', mode: 'append' },
        { path: 'warm/a.txt', content: 'x', mode: 'append' },
      ],
    ];
    const changes = new Set(['write_file', 'edit_file', 'apply_patch']);
    const commands: readonly [string, object, object][] = [
      ['bash', { command: 'cat dir/a.txt' }, { command: 'true' }],
      ['run_command', { command: 'cat dir/a.txt' }, { command: 'true' }],
      ['bash', { command: 'cat a.txt', working_dir: 'dir' }, { command: 'true' }],
    ];

    const searches: readonly [string, object, object][] = [
      ['glob', { pattern: '**', path: 'dir' }, { pattern: '**', path: 'warm' }],
      ['grep', { pattern: 'a', path: 'dir' }, { pattern: 'a', path: 'warm' }],
      ['grep', { pattern: 'a', path: 'dir/a.txt' }, { pattern: 'a', path: 'warm/a.txt' }],
    ];

    it('are watched for every tool', () => {
      // These talk to running shells, and touch nothing else.
      const ofShells = ['bash_output', 'kill_shell'];
      // These talk to the person and to the journal.
      const ofConversation = ['ask_user_question', 'todo_write'];
      // These touch no file; test/web tests their requests.
      const ofWeb = ['web_fetch', 'web_search'];
      const traced = [...files, ...commands, ...searches].map(([name]) => name);
      const watched = new Set([...traced, ...ofShells, ...ofConversation, ...ofWeb]);
      expect([...watched].sort()).toEqual(builtinTools().map(({ name }) => name));
    });

    it.each(files)('%s %j touches what it declares', async (name, args, warmUp) => {
      const traced = await trace(name, args, warmUp);
      expect(traced.result.error).toBeUndefined();
      expect(traced.all.length).toBeGreaterThan(5);
      expect(undeclared(traced)).toEqual([]);
      // A plan shows the change, and reads the file for that.
      const inPlan = changes.has(name) ? ['look', 'content'] : ['look'];
      expect(traced.planned.filter(({ how }) => !inPlan.includes(how))).toEqual([]);
    });

    eachOf(searches, 2)(
      '%s %j starts ripgrep alone, which reads what is declared',
      async (name, args, warmUp) => {
        const { root, result, planned, all } = await trace(name, args, warmUp);
        expect(result.output).toMatch(/^dir\/a\.txt/);
        expect(planned.filter(({ how }) => how !== 'look')).toEqual([]);
        const started = all.filter(({ call }) => call === 'execve').map(({ path }) => basename(path));
        expect(new Set(started)).toEqual(new Set(['rg']));
        const touched = all.filter(({ how, path }) => how !== 'look' && path.startsWith(dirname(root)));
        expect(touched.length).toBeGreaterThan(0);
        expect(
          touched.filter(({ how, path }) => how === 'change' || !path.startsWith(join(root, 'dir'))),
        ).toEqual([]);
      },
    );

    eachOf(commands, 2)(
      '%s %j starts what it declares, and touches nothing itself',
      async (name, args, warmUp) => {
        const { root, result, effects, planned, all } = await trace(name, args, warmUp);
        expect(result.output).toBe('dir a.txt\n');
        expect(effects).toMatchObject([{ kind: 'run' }, { kind: 'read' }]);
        expect(planned.filter(({ how, call }) => how !== 'look' || call === 'execve')).toEqual([]);
        const inside = all.filter(({ path }) => path === root || path.startsWith(`${root}/`));
        const expected = [dirname(root), root, join(root, 'dir'), join(root, 'dir', 'a.txt')];
        expect(new Set(inside.map(({ path }) => path))).toSatisfy((paths: Set<string>) =>
          [...paths].every((path) => expected.includes(path)),
        );
        expect(inside.filter(({ how }) => how === 'change')).toEqual([]);
        const started = all.filter(({ call }) => call === 'execve').map(({ path }) => basename(path));
        // Small shells are started ahead and become the next commands.
        const shell = name === 'bash' ? 'bash' : 'sh';
        expect(started).toContain(shell);
        // perl holds the processes that a command leaves behind, if there is no sandbox.
        const expectedPrograms = [shell, 'sh', 'cat', 'perl'];
        expect(started.filter((program) => !expectedPrograms.includes(program))).toEqual([]);
      },
    );
  },
);
