/*
 * What is measured is what ships: the built package, reached by its own name. The types come from the source, so that
 * types can be checked without a build.
 */

const NAME: string = 'toolexec';

export const toolexec: typeof import('../src/index.js') = await import(NAME);
export const toolexecPolicy: typeof import('../src/policy.js') = await import(`${NAME}/policy`);
export const toolexecLp1: typeof import('../src/lp1.js') = await import(`${NAME}/lp1`);
export const toolexecSandbox: typeof import('../src/sandbox.js') = await import(`${NAME}/sandbox`);

/** The rows of a journal file are no public interface: to write the same ones bare takes a look inside. */
export const journalSchema: typeof import('../src/journal/migrations.js') = await import(
  inside('journal/migrations.js')
);
export const sqlite: typeof import('../src/platform/sqlite.js') = await import(inside('platform/sqlite.js'));

/** What the journal's commands use. */
export const longJournal: Pick<typeof import('../src/journal/open-archive.js'), 'openArchive'> &
  Pick<typeof import('../src/journal/verify-journal.js'), 'verifyJournal'> &
  Pick<typeof import('../src/journal/prune-journal.js'), 'pruneJournal'> = {
  ...(await import(inside('journal/open-archive.js'))),
  ...(await import(inside('journal/verify-journal.js'))),
  ...(await import(inside('journal/prune-journal.js'))),
};

function inside(path: string): string {
  return new URL(`../dist/${path}`, import.meta.url).href;
}
