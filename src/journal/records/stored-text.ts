import { toUSVString } from 'node:util';

const ESCAPED = 'json:';

/**
 * Texts in a database cannot contain a NUL or lone surrogates, but ids that a model invents can contain
 * both. Such a text, and any text that could be mistaken for its encoded form, is stored as a JSON string.
 */
export function toStoredText(text: string): string {
  if (isStorable(text) && !text.startsWith(ESCAPED)) return text;
  return `${ESCAPED}${JSON.stringify(text)}`;
}

/** The text as it was given. */
export function fromStoredText(stored: string): string {
  return stored.startsWith(ESCAPED) ? String(JSON.parse(stored.slice(ESCAPED.length))) : stored;
}

/** A turn as stored in its column: JSON, so that an unknown turn differs from none. */
export function toStoredTurn(turn: string | undefined): string {
  return JSON.stringify(turn ?? null);
}

function isStorable(text: string): boolean {
  // Without lone surrogates `toUSVString` returns the same string, and nothing has to be compared.
  return toUSVString(text) === text && !text.includes('\0');
}
