import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Folders whose tests leave nothing behind in their process: they share one, which halves their time. */
const SHARED = [
  'base',
  'config',
  'contract',
  'errors',
  'output',
  'policy',
  'protocols',
  'sandbox',
  'schema',
  'tools',
];
const shared = SHARED.map((folder) => `src/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    pool: 'forks',
    // Vitest takes one core less than there are; our tests mostly wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 20_000,
    // The first that needs the command builds it.
    hookTimeout: 60_000,
    // A busy machine may be slow to come to what is waited for.
    expect: { poll: { timeout: 15_000 } },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      {
        extends: true,
        test: { name: 'alone', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: shared },
      },
    ],
  },
});
