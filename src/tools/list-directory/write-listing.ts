import type { ListRequest } from './list-request.js';
import { compareCodePoints, type ListEntry, type Walk } from './walk-directory.js';

export type TruncatedReason = 'max_entries' | 'max_output_bytes' | null;

export interface Listing {
  readonly text: string;
  readonly returned: number;
  readonly truncatedReason: TruncatedReason;
}

/**
 * The listing as JSON of at most `maxBytes` UTF-8 bytes: entries are dropped from the end. Undefined if even
 * the empty listing does not fit.
 */
export function writeListing(
  request: Pick<ListRequest, 'path' | 'maxEntries'>,
  walk: Walk,
  maxBytes: number,
): Listing | undefined {
  const entries = [...walk.entries].sort((a, b) => compareCodePoints(a.path, b.path)).map(entryJson);
  const whole = listing(request, entries, walk.more ? 'max_entries' : null);
  if (Buffer.byteLength(whole.text, 'utf8') <= maxBytes) return whole;
  let bytes = sumBytes(entries);
  for (let count = entries.length - 1; count >= 0; count--) {
    bytes -= Buffer.byteLength(entries[count] ?? '', 'utf8');
    const frame = frameJson(request, count, 'max_output_bytes');
    const size = Buffer.byteLength(frame.before + frame.after, 'utf8') + bytes + Math.max(0, count - 1);
    if (size <= maxBytes) return listing(request, entries.slice(0, count), 'max_output_bytes');
  }
  return undefined;
}

function sumBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text, 'utf8'), 0);
}

type Framed = Pick<ListRequest, 'path' | 'maxEntries'>;

function listing(request: Framed, entries: readonly string[], reason: TruncatedReason): Listing {
  const { before, after } = frameJson(request, entries.length, reason);
  return { text: before + entries.join(',') + after, returned: entries.length, truncatedReason: reason };
}

/** The JSON around the entries; the key order is part of the format. */
function frameJson(
  request: Framed,
  returned: number,
  reason: TruncatedReason,
): { before: string; after: string } {
  return {
    before: `{"path":${stringJson(request.path)},"entries":[`,
    after:
      `],"returned":${returned},"max_entries":${request.maxEntries},` +
      `"truncated":${reason !== null},"truncated_reason":${JSON.stringify(reason)}}`,
  };
}

/** Written by hand because a listing may have ten thousand entries. The key order is part of the format. */
function entryJson(entry: ListEntry): string {
  const name = stringJson(entry.name);
  const path = entry.path === entry.name ? name : stringJson(entry.path);
  const error = entry.error === null ? 'null' : stringJson(entry.error);
  return (
    `{"name":${name},"path":${path},"depth":${entry.depth},"type":"${entry.type}",` +
    `"size_bytes":${entry.size_bytes},"modified_epoch_ms":${entry.modified_epoch_ms},` +
    `"is_hidden":${entry.is_hidden},"error_code":${JSON.stringify(entry.error_code)},"error":${error}}`
  );
}

function stringJson(text: string): string {
  return escapeInvisible(JSON.stringify(text));
}

/**
 * Characters that output cleaning would remove: escaped, a name survives unchanged. JSON itself escapes the
 * other control characters.
 */
const CLEANED_AWAY = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function escapeInvisible(json: string): string {
  if (json.search(CLEANED_AWAY) === -1) return json;
  return json.replace(
    CLEANED_AWAY,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
