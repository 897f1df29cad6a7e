import type { JournalDatabase } from './journal-database.js';
import { sha256 } from './link-hash.js';

/** Bytes of UTF-8 that are kept in a row; more goes to the blobs, where equal texts are kept once. */
export const MAX_INLINE_BYTES = 65_536;

/** A text as a row holds it: itself, or the hash of a blob. */
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
