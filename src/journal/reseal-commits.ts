import { ChainedRowReader, parseRowName, readChainedRow } from './chained-rows.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';
import { journalUnavailable } from './journal-unavailable.js';
import { linkHash, rowContent } from './link-hash.js';
import type { PruneData } from './pruned-commits.js';

const PAGE = 'SELECT number, added, hash FROM commits WHERE number > ? ORDER BY number LIMIT 1000';

export interface OpenedCommits {
  /** Runs of commits that cover one of the rows. */
  readonly runs: PruneData['commits'];
  /** What else they cover. */
  readonly remaining: readonly string[];
}

/**
 * Finds the commits that cover rows which are about to be taken out. Each of them is checked while its rows are there:
 * what was tampered with must not be sealed anew.
 * @throws ToolError `journal_unavailable` when one does not hold what it held when it was written.
 */
export function findCommitsOf(database: JournalDatabase, names: ReadonlySet<string>): OpenedCommits {
  const rows = new ChainedRowReader(database);
  const runs: [number, number][] = [];
  const remaining: string[] = [];
  let missing = names.size;
  let last = 0;
  let head = '';
  while (missing > 0) {
    const page = database
      .prepared(PAGE)
      .all(last)
      .map((values) => new JournalRow(values));
    if (page.length === 0) break;
    for (const row of page) {
      const number = row.number('number');
      const added = row.rawText('added').split(' ');
      const hash = row.rawText('hash');
      const kept = added.filter((name) => !names.has(name));
      if (kept.length < added.length) {
        checkCommit(rows, { number, added, hash, head });
        missing -= added.length - kept.length;
        remaining.push(...kept);
        const run = runs.at(-1);
        if (run !== undefined && run[1] === number - 1) run[1] = number;
        else runs.push([number, number]);
      }
      head = hash;
      last = number;
    }
  }
  return { runs, remaining };
}

interface Commit {
  readonly number: number;
  readonly added: readonly string[];
  readonly hash: string;
  /** The hash of the one before. */
  readonly head: string;
}

function checkCommit(rows: ChainedRowReader, { number, added, hash, head }: Commit): void {
  const content = added.map((name) => {
    const row = parseRowName(name);
    const values = row === undefined ? undefined : rows.read(row);
    return values === undefined ? '' : rowContent(values);
  });
  if (linkHash(head, added.join(' '), content.join('')) === hash) return;
  throw journalUnavailable(
    'Cannot prune the journal',
    `commit ${number} does not hold what it held when it was written`,
    'Look at it with `toolexec journal verify`, and restore it from a copy.',
  );
}

const ADD_PRUNE = 'INSERT INTO prunes (data, pruned_at) VALUES (?, ?) RETURNING number';

/** Says in the chain what was taken out, and covers what the opened commits held besides. */
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
    const row = parseRowName(name);
    const content = row === undefined ? undefined : readChainedRow(database, row);
    if (row !== undefined && content !== undefined) database.chain(row.table, row.number, content);
  }
}
