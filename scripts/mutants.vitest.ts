import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The tests that look for mutants: `scripts/mutants.ts` names them. */
export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^fast-check$/,
        replacement: fileURLToPath(new URL('../test/seeded-fast-check.ts', import.meta.url)),
      },
    ],
  },
  test: {
    include: process.env.TOOLEXEC_MUTANT_TESTS?.split(' ') ?? [],
    exclude: ['**/*.soak.test.ts'],
    tags: [{ name: 'soak' }],
    isolate: false,
    testTimeout: 60_000,
  },
});
