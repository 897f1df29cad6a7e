import { CONTENT_MARK, contentHashes, sha256 } from '../records/stored-content.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow, rowsAfter } from './journal-row.js';

/** The maximum size in a row, in UTF-8 bytes. Longer texts are stored as blobs, equal ones once. */
const MAX_INLINE_BYTES = 65_536;

/** A text in a row: itself, or the hash of a blob. */
export type LongText =
  | { readonly inline: string; readonly blob: null }
  | { readonly inline: null; readonly blob: string; readonly bytes: Uint8Array };

export function toLongText(text: string): LongText {
  // A character has at most three bytes for each unit of its length.
  if (text.length * 3 <= MAX_INLINE_BYTES) return { inline: text, blob: null };
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_INLINE_BYTES) return { inline: text, blob: null };
  return { inline: null, blob: sha256(bytes), bytes };
}

const ADD_BLOB = 'INSERT INTO blobs (hash, size, content) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING';

export function storeLongText(database: JournalDatabase, text: LongText): void {
  if (text.blob !== null) database.prepared(ADD_BLOB).run(text.blob, text.bytes.length, text.bytes);
}

/** Stores bytes under their hash. The bytes must not change until they are stored. */
export function keepBytes(bytes: Uint8Array): Operation<string> {
  const hash = sha256(bytes);
  return {
    writes: true,
    run(database) {
      storeLongText(database, { inline: null, blob: hash, bytes });
      return hash;
    },
  };
}

/** The bytes stored under a hash. A content that does not match its hash counts as lost. */
export function readKept(hash: string): Operation<Uint8Array | undefined> {
  return {
    writes: false,
    run(database) {
      const content = database.prepared('SELECT content FROM blobs WHERE hash = ?').get(hash)?.content;
      return content instanceof Uint8Array && sha256(content) === hash ? content : undefined;
    },
  };
}

const ANYWHERE = /\b([0-9a-f]{64})\b/g;

/**
 * Deletes unreferenced blobs: all of them if no call is running, otherwise only `candidates`, because a call
 * stores a content before it records the reference.
 * @returns how many.
 */
export function sweepBlobs(database: JournalDatabase, candidates: ReadonlySet<string>): number {
  const isQuiet = database.prepared('SELECT 1 FROM unfinished LIMIT 1').get() === undefined;
  const hashes = isQuiet ? hashesOf(database, 'SELECT hash AS blob FROM blobs') : [...candidates];
  if (hashes.length === 0) return 0;
  // A note may refer to a stored content anywhere in its data.
  const needed = new Set(referredBlobs(database, ANYWHERE));
  const unused = hashes.filter((hash) => !needed.has(hash));
  for (const hash of unused) database.prepared('DELETE FROM blobs WHERE hash = ?').run(hash);
  return unused.length;
}

const REFERENCES = `
  SELECT blob FROM results WHERE blob IS NOT NULL UNION SELECT blob FROM notes WHERE blob IS NOT NULL
  UNION SELECT blob FROM batch_notes WHERE blob IS NOT NULL UNION SELECT blob FROM messages WHERE blob IS NOT NULL`;
const NOTES = `
  SELECT n.number, n.data, n.blob, x.content FROM notes n LEFT JOIN blobs x ON x.hash = n.blob
  WHERE n.number > ? AND (n.blob IS NOT NULL OR length(n.data) >= 64) ORDER BY n.number LIMIT 1000`;
/** A result names the bytes of its content. */
const CONTENTS = `
  SELECT r.call AS number, r.result, r.blob, x.content FROM results r LEFT JOIN blobs x ON x.hash = r.blob
  WHERE r.call > ?1 AND (instr(r.result, ?2) > 0 OR instr(x.content, CAST(?2 AS BLOB)) > 0)
  ORDER BY r.call LIMIT 100`;

/**
 * The hashes of the blobs to which rows refer; some of them several times.
 * @param inNotes the references in the data of notes, as its first group
 */
export function* referredBlobs(database: JournalDatabase, inNotes: RegExp): Generator<string> {
  yield* hashesOf(database, REFERENCES);
  for (const row of rowsAfter(0, database.prepared(NOTES))) {
    for (const [, hash = ''] of row.longText('data').matchAll(inNotes)) yield hash;
  }
  for (const row of rowsAfter(0, database.prepared(CONTENTS), CONTENT_MARK)) {
    yield* contentHashes(row.longText('result'));
  }
}

function hashesOf(database: JournalDatabase, sql: string): readonly string[] {
  return database
    .prepared(sql)
    .all()
    .map((values) => new JournalRow(values).rawText('blob'));
}
