/*
 * The benchmarks measure the built package, imported by its name. The types come from the source, so that
 * they can be checked without a build.
 */

const NAME: string = 'toolexec';

export const toolexec: typeof import('../src/index.js') = await import(NAME);
export const toolexecFleet: typeof import('../src/fleet.js') = await import(`${NAME}/fleet`);
export const toolexecPolicy: typeof import('../src/policy.js') = await import(`${NAME}/policy`);
export const toolexecLp1: typeof import('../src/lp1.js') = await import(`${NAME}/lp1`);
export const toolexecSandbox: typeof import('../src/sandbox.js') = await import(`${NAME}/sandbox`);

/** For the commands of the journal. */
export { openArchive } from '../src/journal/open-archive.js';
export { pruneJournal } from '../src/journal/prune-journal.js';
/** The rows of a journal file are no public interface: the bench that writes the same ones bare needs them. */
export * as journalSchema from '../src/journal/sqlite/migrations.js';
export { verifyJournal } from '../src/journal/verify-journal.js';
export * as sqlite from '../src/platform/sqlite/sqlite.js';
