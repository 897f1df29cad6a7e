import fc from '../node_modules/fast-check/lib/fast-check.js';
import { SHARE_OF_RUNS } from '../src/testing/fixtures/share-of-runs.js';

/*
 * Replaces `fast-check` in tests. Properties draw the same values in every run, so that no test depends on
 * chance: `TOOLEXEC_SEED=random` draws others each time, `TOOLEXEC_SEED=N` those of one failure. `npm test`
 * draws a tenth of the runs that a property asks for, and `npm run soak` all: see `share-of-runs.ts`.
 */
const wanted = process.env.TOOLEXEC_SEED ?? '20261101';
if (wanted !== 'random') {
  const seed = Number(wanted);
  if (!Number.isSafeInteger(seed))
    throw new Error(`TOOLEXEC_SEED must be a whole number or "random": ${wanted}`);
  fc.configureGlobal({ seed });
}

const FEWEST = 20;

/** fast-check's function, with the share of the runs. */
export function assert<Ts>(property: fc.IAsyncProperty<Ts>, parameters?: fc.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: fc.IProperty<Ts>, parameters?: fc.Parameters<Ts>): void;
export function assert<Ts>(property: fc.IRawProperty<Ts>, parameters: fc.Parameters<Ts> = {}): unknown {
  const { numRuns = 100 } = parameters;
  const scaled = Math.max(Math.min(numRuns, FEWEST), Math.ceil(numRuns * SHARE_OF_RUNS));
  return fc.assert(property, { ...parameters, numRuns: scaled });
}

export * from '../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, assert };
