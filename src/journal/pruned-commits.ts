import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';

/** What a prune took out, as its row says it. */
export interface PruneData {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** First and last of every run of commits that gave rows. */
  readonly commits: readonly (readonly [first: number, last: number])[];
}

/**
 * The runs of commits that gave rows, the last of each by its first. Of such a run only the last is left, with its
 * hash, which the chain goes on from.
 */
export function readPrunedCommits(database: JournalDatabase): ReadonlyMap<number, number> {
  const runs = new Map<number, number>();
  for (const values of database.prepared('SELECT data FROM prunes').all()) {
    const row = new JournalRow(values);
    const { commits } = row.json<PruneData>(row.rawText('data'));
    for (const [first, last] of commits) runs.set(first, last);
  }
  return runs;
}
