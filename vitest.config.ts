import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const testsIn = (folders: readonly string[]): string[] =>
  folders.map((folder) => `src/${folder}/**/*.test.ts`);

/** Pure folders: no processes, no databases, next to no files. */
const UNIT = testsIn([
  'base',
  'contract',
  'effects',
  'errors',
  'output',
  'patterns',
  'policy',
  'provenance',
  'providers',
  'schema',
]);
/** These look at what their process keeps for all its executors (helpers of commands, handlers, open files). */
const ALONE = [
  'src/commands/supervise-command.helpers.test.ts',
  'src/executor/execute/leftovers.test.ts',
  'src/executor/execute/replaced-intrinsics.test.ts',
  'src/executor/execute/shells.test.ts',
  'src/executor/execute/unhandled-errors.test.ts',
];
/** Minutes of kills, races, faults and traces. A long test beside short ones has a file of its own: `x.soak.test.ts`. */
const LONG = ['src/**/*.soak.test.ts', 'test/**/*.soak.test.ts'];
const SOAK = [
  ...LONG,
  'test/attacks/**/*.test.ts',
  'test/crash/**/*.test.ts',
  'test/cli/crash.test.ts',
  'test/power-loss.test.ts',
  'test/recovery/every-step.test.ts',
  'test/strace.test.ts',
];

function filesWith(pattern: RegExp): string[] {
  return ['src', 'test']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((path) => path.endsWith('.test.ts') && pattern.test(readFileSync(path, 'utf8')));
}

/** Of properties and long lists `npm test` tries some, and a soak all: see `src/testing/fixtures/share-of-runs.ts`. */
const TRY_SOME = filesWith(/from '(?:fast-check|\S+\/share-of-runs\.js)'/);

/** Files in which a test is tagged `soak`: see `test/soak-alone.ts`. */
const TAGGED = filesWith(/\['soak'\]|\/each-of\.js'/);

const TAGGED_ALONE = {
  extends: true as const,
  test: {
    name: 'soak-tagged',
    include: TAGGED,
    exclude: SOAK,
    setupFiles: ['test/soak-alone.ts'],
    isolate: false,
  },
};

const ALL_VALUES = {
  extends: true as const,
  test: {
    name: 'soak-properties',
    include: TRY_SOME,
    env: { TOOLEXEC_RUNS: '1' },
    isolate: false,
  },
};

export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      {
        find: /^fast-check$/,
        replacement: fileURLToPath(new URL('test/seeded-fast-check.ts', import.meta.url)),
      },
    ],
  },
  test: {
    pool: 'forks',
    ...(mode === 'soak' ? {} : { globalSetup: ['test/temporary-files-in-memory.ts'] }),
    // Vitest takes one core less than there are; half of the time of our tests goes by in waiting for processes of their own.
    maxWorkers: 2 * Math.max(2, availableParallelism()),
    // What was compiled once is compiled again only when it has changed: a tenth of the time of a run.
    experimental: { fsModuleCache: true },
    // Thirty times what the slowest takes on a fast machine: it ends a test that hangs, and judges none by its time.
    testTimeout: 180_000,
    // The first that needs the command builds it.
    hookTimeout: 120_000,
    // A busy machine may be slow to come to what is waited for.
    expect: { poll: { timeout: 60_000 } },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    // `npm test` and the short soak leave them out: variants, races and floods of what another test of the same file shows.
    tags: [{ name: 'soak' }],
    projects: [
      { extends: true, test: { name: 'unit', include: UNIT, exclude: LONG, isolate: false } },
      { extends: true, test: { name: 'system-alone', include: ALONE } },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...UNIT, ...ALONE, ...SOAK],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'soak', include: SOAK, isolate: false } },
      // Only when asked for: `vitest run FILE` would run its properties twice.
      ...(mode === 'soak' ? [TAGGED_ALONE, ALL_VALUES] : []),
    ],
  },
}));
