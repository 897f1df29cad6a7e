import { afterAll, describe, expect, it } from 'vitest';
import { SHARE_OF_RUNS } from '../src/testing/fixtures/share-of-runs.js';
import { findMisses } from './shell/find-misses.js';
import { ShellWriter } from './shell/generate-shell.js';
import { Oracle, type ShellName } from './shell/oracle.js';

const BATCH = 100;

/** Always the same; `TOOLEXEC_SEED=random` adds another, and `TOOLEXEC_SHELL_SEED=N` the one of a failure. */
function seeds(): readonly number[] {
  const { TOOLEXEC_SHELL_SEED: one, TOOLEXEC_SEED: wanted } = process.env;
  if (one !== undefined) return [Number(one)];
  return wanted === 'random' ? [20_240_607, Date.now() % 1_000_000_000] : [20_240_607, 420_735_362];
}

/** For longer runs: `TOOLEXEC_SHELL_FUZZ=20000 npx vitest run test/shell.test.ts`. */
const COUNT = Number(process.env.TOOLEXEC_SHELL_FUZZ ?? 2000 * SHARE_OF_RUNS);

describe.each<ShellName>(['bash', 'dash'])('analyzeCommand() beside real %s', (shell) => {
  const opened = Oracle.open(shell);
  const oracle = typeof opened === 'string' ? undefined : opened;
  const whyNot = typeof opened === 'string' ? ` (skipped: ${opened})` : '';
  afterAll(() => oracle?.close());

  for (const [at, seed] of seeds().entries()) {
    it.skipIf(oracle === undefined)(
      `allows nothing that runs a command it has not named, seed ${seed}${whyNot}`,
      { timeout: 3_600_000, ...(at === 0 ? {} : { tags: ['soak'] }) },
      () => {
        if (oracle === undefined) return;
        const writer = new ShellWriter(seed);
        let compared = 0;
        for (let done = 0; done < COUNT; done += BATCH) {
          const texts = Array.from({ length: BATCH }, () => writer.text());
          const tally = findMisses(oracle, shell, texts);
          expect(tally.misses).toEqual([]);
          compared += tally.compared;
        }
        // Otherwise nothing was compared, and the test proves nothing. dash refuses texts that only bash can
        // read.
        expect(compared).toBeGreaterThan(COUNT / (shell === 'bash' ? 10 : 25));
      },
    );
  }
});
