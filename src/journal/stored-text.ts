import { toUSVString } from 'node:util';

const ESCAPED = 'json:';

/**
 * SQLite's texts end at a NUL and hold no lone surrogates, ids that a model makes up may hold both: such a text, and
 * one that could be mistaken for it, is stored as a JSON string.
 */
export function toStoredText(text: string): string {
  if (isStorable(text) && !text.startsWith(ESCAPED)) return text;
  return `${ESCAPED}${JSON.stringify(text)}`;
}

export function fromStoredText(stored: string): string {
  return stored.startsWith(ESCAPED) ? String(JSON.parse(stored.slice(ESCAPED.length))) : stored;
}

/** A turn as its column holds it: JSON, so that one which is not known differs from none. */
export function toStoredTurn(turn: string | undefined): string {
  return JSON.stringify(turn ?? null);
}

function isStorable(text: string): boolean {
  // Where nothing is lone, it is the very same text, and nothing has to be compared.
  return toUSVString(text) === text && !text.includes('\0');
}
