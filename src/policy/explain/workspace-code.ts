import { parseNamePattern } from '../../patterns/name.js';

/** Programs that run code of the workspace: build files, scripts, tests, plugins, a given file. */
interface Runner {
  /** Without a version suffix: `python` includes `python3.12`. */
  readonly programs: readonly string[];
  /** Only with one of these words. If absent: always. */
  readonly verbs?: readonly string[];
}

/** The most common ones; no such list is complete. */
const RUNNERS: readonly Runner[] = [
  {
    programs: ['make', 'gmake', 'ninja', 'cmake', 'ctest', 'meson', 'just', 'task', 'rake', 'scons', 'bazel'],
  },
  {
    programs: ['mvn', 'gradle', 'ant', 'sbt', 'gulp', 'grunt', 'nx', 'turbo', 'lerna', 'tox', 'nox', 'hatch'],
  },
  { programs: ['pytest', 'jest', 'vitest', 'mocha', 'ava', 'playwright', 'cypress', 'phpunit', 'rspec'] },
  { programs: ['eslint', 'vite', 'webpack', 'rollup', 'next', 'pre-commit', 'husky', 'direnv', 'tilt'] },
  { programs: ['node', 'deno', 'bun', 'tsx', 'ts-node', 'npx', 'bunx', 'pnpx', 'pnpm', 'yarn'] },
  { programs: ['python', 'pypy', 'ruby', 'perl', 'php', 'lua', 'Rscript', 'julia'] },
  { programs: ['bash', 'sh', 'dash', 'zsh', 'ksh', 'fish', 'pwsh', 'source', '.', 'eval'] },
  { programs: ['poetry', 'pipenv', 'uv', 'pdm', 'bundle', 'composer', 'mix', 'stack', 'cabal'] },
  {
    programs: ['npm'],
    verbs: [
      ...[
        'test',
        't',
        'run',
        'run-script',
        'start',
        'stop',
        'restart',
        'exec',
        'x',
        'install',
        'i',
        'ci',
        'add',
      ],
      ...['rebuild', 'pack', 'publish', 'version', 'init', 'create'],
    ],
  },
  {
    programs: ['cargo'],
    verbs: ['run', 'r', 'test', 't', 'bench', 'build', 'b', 'check', 'c', 'clippy', 'doc', 'install', 'fix'],
  },
  { programs: ['go'], verbs: ['run', 'test', 'generate', 'tool'] },
  { programs: ['dotnet', 'swift', 'zig'], verbs: ['run', 'test', 'build', 'package', 'publish'] },
  { programs: ['pip'], verbs: ['install', 'wheel', 'download'] },
  { programs: ['git'], verbs: ['bisect', 'filter-branch', 'difftool', 'mergetool', 'submodule'] },
];

/** The text for such commands. */
export const RUNS_WORKSPACE_CODE = "runs the workspace's code: contained only in the sandbox";

/** Whether a simple command runs code of the workspace, as far as the list knows. */
export function runsWorkspaceCode(words: readonly string[]): boolean {
  const [program = '', ...rest] = words;
  return !(rest.length === 1 && SAYS_ONLY.test(rest[0] ?? '')) && mayRun(program, rest);
}

/** Whether a rule's pattern allows such a command. */
export function letsWorkspaceCodeRun(pattern: string): boolean {
  const words = pattern.trim().split(/\s+/);
  const start = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [program, ...rest] =
    start === -1 ? [] : words.slice(start).map((word) => word.replace(/['"\\]/g, ''));
  return program !== undefined && (/^\*+$/.test(program) || mayRun(program, rest));
}

/** `make --version` runs no code. */
const SAYS_ONLY = /^(?:--version|--help|-[vVh])$/;

/** Directories of system programs; any other path may belong to the workspace. */
const OF_THE_MACHINE = /^\/(?:usr|bin|sbin|opt|nix|snap)\//;

/** Each word is a pattern or plain text. */
function mayRun(program: string, rest: readonly string[]): boolean {
  if (program.includes('/') && !OF_THE_MACHINE.test(program)) return true;
  const name = parseNamePattern(program.slice(program.lastIndexOf('/') + 1).replace(/(?<=\w)[\d.]+$/, ''));
  return RUNNERS.some(
    ({ programs, verbs }) =>
      programs.some((one) => name.matches(one)) && (verbs === undefined || mayBeOneOf(verbs, rest)),
  );
}

/** Options may take values, so a verb counts at any position, but a wildcard only in its own. */
function mayBeOneOf(verbs: readonly string[], words: readonly string[]): boolean {
  for (const [index, word] of words.entries()) {
    const pattern = parseNamePattern(word);
    const isTaken = words.slice(0, index).some((before) => /^[^-+*?]+$/.test(before));
    if ((pattern.literal !== undefined || !isTaken) && verbs.some((verb) => pattern.matches(verb)))
      return true;
  }
  return false;
}
