import fc from '../node_modules/fast-check/lib/fast-check.js';

/**
 * What tests get for `fast-check`: properties draw the same values in every run, so that chance decides no test.
 * `TOOLEXEC_SEED=random` draws others each time, `TOOLEXEC_SEED=N` those of one failure.
 */
const wanted = process.env.TOOLEXEC_SEED ?? '20261101';
if (wanted !== 'random') {
  const seed = Number(wanted);
  if (!Number.isSafeInteger(seed))
    throw new Error(`TOOLEXEC_SEED must be a whole number or "random": ${wanted}`);
  fc.configureGlobal({ seed });
}

export * from '../node_modules/fast-check/lib/fast-check.js';
export default fc;
