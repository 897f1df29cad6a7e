import { targetOf } from '../platform/fs/fs-entry.js';
import { removeQuietly } from '../platform/fs/make-and-remove.js';
import { journalFailure } from './records/journal-errors.js';
import { sha256 } from './records/stored-content.js';
import { referredBlobs } from './sqlite/blobs.js';
import { CHAINED_TABLES, linkHash } from './sqlite/chain.js';
import { chainedContent } from './sqlite/chained-rows.js';
import {
  anchorPath,
  describeLoss,
  type JournalLoss,
  lossOfMissing,
  readAnchor,
} from './sqlite/journal-anchor.js';
import type { JournalDatabase } from './sqlite/journal-database.js';
import { rowsAfter } from './sqlite/journal-row.js';
import { IN_MEMORY, openJournalDatabase, openJournalReader } from './sqlite/open-journal-database.js';
import { readPrunedCommits } from './sqlite/reseal-commits.js';

export type Verification =
  /**
   * `head` is the hash over everything: keep a copy elsewhere to be able to show later that nothing was cut
   * off. `prunes`: how many times rows were removed on purpose.
   */
  | { readonly intact: true; readonly commits: number; readonly head: string; readonly prunes: number }
  /** `commit` is the first one that does not match its hash. */
  | {
      readonly intact: false;
      readonly commit?: number;
      readonly reason: string;
      /** Everything present is unchanged, but some recorded data is missing. */
      readonly lost?: true;
    };

/**
 * Checks that every row of a journal file is unchanged and none is missing: the chain of commits covers all
 * rows, and the anchor beside the file says where the chain ended. Never creates a missing file.
 *
 * @throws ToolError `journal_unavailable` if the file cannot be read or is not a journal.
 */
export function verifyJournal(path: string): Verification {
  try {
    const missing = findMissing(path);
    if (missing !== undefined) return toLost(missing);
    let loss: JournalLoss | undefined;
    const database = openJournalReader(path, (found) => {
      loss = found;
    });
    try {
      // One transaction, so that concurrent writes are seen completely or not at all.
      database.prepared('BEGIN').run();
      const verification = verifyChain(database);
      return verification.intact && loss !== undefined ? toLost(loss) : verification;
    } finally {
      database.rollback();
      database.close();
    }
  } catch (error) {
    throw journalFailure(path, error);
  }
}

/**
 * Accepts a journal in its current state although recorded data is missing: after it was restored from a backup, or
 * after data was removed on purpose. A journal with changed rows is not accepted.
 *
 * @returns the result of verifying it afterwards.
 * @throws ToolError `journal_unavailable` if the file cannot be written or is not a journal.
 */
export function acceptJournal(path: string): Verification {
  try {
    if (findMissing(path) !== undefined) {
      removeQuietly(anchorPath(path));
      return { intact: true, commits: 0, head: '', prunes: 0 };
    }
    const database = openJournalDatabase(path);
    try {
      const verification = verifyChain(database);
      if (verification.intact) database.acceptLoss();
      return verification;
    } finally {
      database.close();
    }
  } catch (error) {
    throw journalFailure(path, error);
  }
}

/**
 * The loss of a journal, found without reading its rows; undefined if there is none. @throws as
 * `verifyJournal`
 */
export function findJournalLoss(path: string): string | undefined {
  try {
    let loss = findMissing(path);
    if (loss === undefined && targetOf(path) !== undefined) {
      openJournalReader(path, (found) => {
        loss = found;
      }).close();
    }
    return loss === undefined ? undefined : describeLoss(loss);
  } catch (error) {
    throw journalFailure(path, error);
  }
}

function findMissing(path: string): JournalLoss | undefined {
  return path === IN_MEMORY || targetOf(path) !== undefined ? undefined : lossOfMissing(readAnchor(path));
}

function toLost(loss: JournalLoss): Verification {
  return { intact: false, reason: describeLoss(loss), lost: true };
}

const COMMITS = 'SELECT number, added, hash FROM commits WHERE number > ? ORDER BY number LIMIT 1000';

function verifyChain(database: JournalDatabase): Verification {
  const pruned = readPrunedCommits(database);
  let head = '';
  let covered = 0;
  let commits = 0;
  for (const commit of rowsAfter(0, database.prepared(COMMITS))) {
    const number = commit.number('number');
    const hash = commit.rawText('hash');
    if (number !== pruned.get(commits + 1)) {
      const added = commit.rawText('added');
      const names = added.split(' ');
      if (number !== commits + 1 || linkHash(head, added, chainedContent(database, names)) !== hash)
        return { intact: false, commit: commits + 1, reason: 'its rows are not those that were written' };
      covered += names.length;
    }
    head = hash;
    commits = number;
  }
  const reason =
    findUncovered(database, covered) ??
    findBadBlob(database) ??
    findLostBlob(database) ??
    findWrongIndex(database) ??
    findSchemaFlaw(database);
  if (reason !== undefined) return { intact: false, reason };
  const prunes = Number(database.prepared('SELECT count(*) AS prunes FROM prunes').get()?.prunes);
  return { intact: true, commits, head, prunes };
}

function findUncovered(database: JournalDatabase, covered: number): string | undefined {
  const counts = Object.keys(CHAINED_TABLES).map((table) => `(SELECT count(*) FROM ${table})`);
  const count = Number(database.prepared(`SELECT ${counts.join(' + ')} AS rows`).get()?.rows);
  return count === covered ? undefined : `${count} rows, but the chain covers ${covered}`;
}

function findBadBlob(database: JournalDatabase): string | undefined {
  for (const { hash } of database.prepared('SELECT hash FROM blobs').all()) {
    const blob = database.prepared('SELECT size, content FROM blobs WHERE hash = ?').get(String(hash));
    const content = blob?.content;
    const isWhole =
      content instanceof Uint8Array && sha256(content) === hash && blob?.size === content.length;
    if (!isWhole) return `blob ${hash} does not match its name`;
  }
  return undefined;
}

/** A blob that is missing although a row, a result or an undo refers to it. */
function findLostBlob(database: JournalDatabase): string | undefined {
  const isKept = database.prepared('SELECT 1 FROM blobs WHERE hash = ?');
  for (const hash of referredBlobs(database, PREIMAGE)) {
    if (isKept.get(hash) === undefined) return `blob ${hash} is gone`;
  }
  return undefined;
}

/** The old content of a file, in the note before it is changed. */
const PREIMAGE = /"preimage":"([0-9a-f]{64})"/g;

/**
 * Two tables repeat data that the chain covers, as an index: they decide what is waiting and what is
 * finished.
 */
function findWrongIndex(database: JournalDatabase): string | undefined {
  for (const [table, [told, covered]] of Object.entries(INDEXES)) {
    const differs = `SELECT 1 FROM (${told} EXCEPT ${covered}) UNION ALL SELECT 1 FROM (${covered} EXCEPT ${told})`;
    if (database.prepared(`${differs} LIMIT 1`).get() !== undefined) {
      return `the table ${table} does not match the records`;
    }
  }
  return undefined;
}

const INDEXES: Readonly<Record<string, readonly [told: string, covered: string]>> = {
  unfinished: [
    'SELECT call FROM unfinished',
    'SELECT number FROM calls WHERE number NOT IN (SELECT call FROM results)',
  ],
  decided: [
    'SELECT batch, kind FROM decided',
    `SELECT batch, kind FROM batch_notes WHERE number IN (
      SELECT max(number) FROM batch_notes WHERE kind IN ('wait', 'resume', 'discard') GROUP BY batch)`,
  ],
};

/**
 * A difference from the schema that this version creates: a table, index or trigger that is missing or
 * different, or an additional trigger. Triggers decide which calls count as unfinished, and the chain does
 * not cover them.
 */
function findSchemaFlaw(database: JournalDatabase): string | undefined {
  const ours = schemaOfNew();
  const found = schemaOf(database);
  for (const [name, sql] of ours) {
    if (found.get(name) !== sql) return `the ${name} is not the one that it was made with`;
  }
  const stranger = [...found.keys()].find((name) => name.startsWith('trigger ') && !ours.has(name));
  return stranger === undefined ? undefined : `the ${stranger} is not one of a journal`;
}

const OBJECTS = "SELECT type || ' ' || name AS name, sql FROM journal.sqlite_schema WHERE sql IS NOT NULL";

function schemaOf(database: JournalDatabase): ReadonlyMap<string, string> {
  return new Map(
    database
      .prepared(OBJECTS)
      .all()
      .map(({ name, sql }) => [String(name), String(sql)]),
  );
}

function schemaOfNew(): ReadonlyMap<string, string> {
  const fresh = openJournalDatabase(IN_MEMORY);
  try {
    return schemaOf(fresh);
  } finally {
    fresh.close();
  }
}
