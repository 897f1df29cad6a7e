import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';
import { CONTENT_MARK, contentHashes } from './stored-content.js';

const HASH = /\b[0-9a-f]{64}\b/g;

const REFERENCES = `
  SELECT blob FROM results WHERE blob IS NOT NULL UNION SELECT blob FROM notes WHERE blob IS NOT NULL
  UNION SELECT blob FROM batch_notes WHERE blob IS NOT NULL UNION SELECT blob FROM messages WHERE blob IS NOT NULL`;

/** A note may name what was kept for it, wherever in its data. */
const NOTES = `
  SELECT n.data, n.blob, x.content FROM notes n LEFT JOIN blobs x ON x.hash = n.blob
  WHERE n.blob IS NOT NULL OR length(n.data) >= 64`;

/** A result names the bytes of its content. */
const CONTENTS = `
  SELECT r.result, r.blob, x.content FROM results r LEFT JOIN blobs x ON x.hash = r.blob
  WHERE instr(r.result, ?1) > 0 OR instr(x.content, CAST(?1 AS BLOB)) > 0`;

/**
 * Takes out blobs that nothing refers to: all of them while no call is under way; else only `candidates`, because a
 * call keeps a content before it writes down where that is.
 * @returns how many.
 */
export function sweepBlobs(database: JournalDatabase, candidates: ReadonlySet<string>): number {
  const isQuiet = database.prepared('SELECT 1 FROM unfinished LIMIT 1').get() === undefined;
  const hashes = isQuiet ? hashesOf(database, 'SELECT hash FROM blobs', 'hash') : [...candidates];
  if (hashes.length === 0) return 0;
  const needed = new Set(hashesOf(database, REFERENCES, 'blob'));
  for (const values of database.prepared(NOTES).all()) {
    for (const [hash] of new JournalRow(values).longText('data').matchAll(HASH)) needed.add(hash);
  }
  for (const values of database.prepared(CONTENTS).all(CONTENT_MARK)) {
    for (const hash of contentHashes(new JournalRow(values).longText('result'))) needed.add(hash);
  }
  const spare = hashes.filter((hash) => !needed.has(hash));
  for (const hash of spare) database.prepared('DELETE FROM blobs WHERE hash = ?').run(hash);
  return spare.length;
}

function hashesOf(database: JournalDatabase, sql: string, column: string): readonly string[] {
  return database
    .prepared(sql)
    .all()
    .map((values) => new JournalRow(values).rawText(column));
}
