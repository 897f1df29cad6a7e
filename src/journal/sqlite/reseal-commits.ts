import { journalUnavailable } from '../records/journal-errors.js';
import { linkHash, rowContent } from './chain.js';
import { chainedContent, chainedValues } from './chained-rows.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow, rowsAfter } from './journal-row.js';
import type { RemovableRows } from './prunable-rows.js';

// Rows that were pruned before are no longer covered.
const PAGE = `
  SELECT number, added, hash FROM commits WHERE number > ? AND number < ? AND added <> '' ORDER BY number LIMIT 32`;
const HASH = 'SELECT hash FROM commits WHERE number = ?';

interface OpenedCommits {
  /** Ranges of commits that cover one of the rows. */
  readonly runs: PruneData['commits'];
  /** The other rows that these commits cover. */
  readonly remaining: readonly string[];
}

/**
 * Finds the commits that cover rows which are about to be removed. Each of them is verified while its rows
 * are still there, so that tampered rows are never sealed again.
 * @param from the commit to begin with: commits before it come last.
 * @throws ToolError `journal_unavailable` if a commit does not match its hash.
 */
export function findCommitsOf(database: JournalDatabase, rows: RemovableRows, from: number): OpenedCommits {
  const runs: [number, number][] = [];
  const remaining: string[] = [];
  let missing = rows.count;
  for (const row of commitsFrom(database, from)) {
    const number = row.number('number');
    const added = row.rawText('added').split(' ');
    const kept = added.filter((name) => !rows.has(name));
    if (kept.length === added.length) continue;
    const head = String(database.prepared(HASH).get(number - 1)?.hash ?? '');
    if (linkHash(head, row.rawText('added'), chainedContent(database, added)) !== row.rawText('hash'))
      throw isTamperedWith(number);
    missing -= added.length - kept.length;
    remaining.push(...kept);
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
    if (missing === 0) break;
  }
  return { runs, remaining };
}

function* commitsFrom(database: JournalDatabase, from: number): Generator<JournalRow> {
  yield* rowsAfter(from - 1, database.prepared(PAGE), Number.MAX_SAFE_INTEGER);
  yield* rowsAfter(0, database.prepared(PAGE), from);
}

function isTamperedWith(commit: number): Error {
  return journalUnavailable(
    'Cannot prune the journal',
    `commit ${commit} does not have the content with which it was written`,
    'Look at it with `toolexec journal verify`, and restore it from a copy.',
  );
}

const ADD_PRUNE = 'INSERT INTO prunes (data, pruned_at) VALUES (?, ?) RETURNING number';

/** Records in the chain what was removed, and covers again the remaining rows of the opened commits. */
export function sealPrune(
  database: JournalDatabase,
  { runs, remaining }: OpenedCommits,
  data: Omit<PruneData, 'commits'>,
  at: number,
): void {
  for (const [first, last] of runs) {
    database.prepared('DELETE FROM commits WHERE number >= ? AND number < ?').run(first, last);
    database.prepared("UPDATE commits SET added = '' WHERE number = ?").run(last);
  }
  const values = [JSON.stringify({ ...data, commits: runs } satisfies PruneData), at];
  const number = Number(database.prepared(ADD_PRUNE).get(...values)?.number);
  database.chain('prunes', number, [number, ...values]);
  for (const name of remaining) {
    const kept = chainedValues(database, name);
    if (kept !== undefined) database.cover(name, rowContent(kept));
  }
}

/** The removed rows, as recorded in the row of the prune. */
interface PruneData {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** The first and last commit of every range that lost rows. */
  readonly commits: readonly (readonly [first: number, last: number])[];
}

/**
 * The ranges of commits that lost rows: the last commit of each range by its first. Only the last commit of a
 * range is left, with its hash, from which the chain continues.
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
