import type { JsonObject, JsonValue } from '../contract/json.js';
import type { CallOrigins, Origin } from '../contract/origin.js';
import { LEAST_CHARACTERS, normalize, type TextIndex, WantedText } from './text-index.js';

/** Limits for one call: arguments, and pieces of them. */
const MOST_TEXTS = 1_000;
const MOST_PIECES_OF_CALL = 4_000;
/** Limit for one argument. */
const MOST_PIECES = 200;
const LONGEST_PIECE = 10_000;

/** A result that the model has seen. */
export interface SeenText {
  readonly callId: string;
  readonly origin: readonly Origin[];
  readonly isUntrusted: boolean;
  readonly index: TextIndex;
}

export type FoundOrigins = Pick<CallOrigins, 'args' | 'places'>;

/** Finds the places in results at which the texts of a call's arguments occur. */
export function searchArguments(args: JsonObject, texts: readonly SeenText[]): FoundOrigins {
  const found: Record<string, readonly Origin[]> = {};
  const places: Record<string, string> = {};
  if (texts.length === 0) return { args: found, places };
  let pieces = 0;
  for (const [pointer, text] of textsIn(args)) {
    const wanted = piecesOf(text, Math.min(MOST_PIECES, Math.max(1, MOST_PIECES_OF_CALL - pieces)));
    pieces += wanted.length;
    const hit = findIn(texts, wanted);
    if (hit === undefined) continue;
    found[pointer] = [...new Set([...(found[pointer] ?? []), ...hit.origins])];
    places[pointer] ??= hit.place;
  }
  return { args: found, places };
}

interface Place {
  readonly text: SeenText;
  /** The position of the piece that was found. */
  readonly piece: number;
}

/**
 * All origins of the pieces, and one place: that of the first piece found in text from outside, otherwise of the first
 * piece found anywhere. If several results contain it, the oldest counts.
 */
function findIn(
  texts: readonly SeenText[],
  wanted: readonly WantedText[],
): { readonly origins: readonly Origin[]; readonly place: string } | undefined {
  const origins = new Set<Origin>();
  let place: Place | undefined;
  for (const text of texts) {
    const isBetter = place === undefined || (text.isUntrusted && !place.text.isUntrusted);
    const isNews = isBetter || !text.origin.every((one) => origins.has(one));
    // An earlier piece gives a better place, but only in a result that is at least as relevant as the known one.
    const end = isNews ? wanted.length : text.isUntrusted === place?.text.isUntrusted ? place.piece : 0;
    const piece = text.index.firstOf(wanted, end);
    if (piece === -1) continue;
    for (const one of text.origin) origins.add(one);
    if (isBetter || (text.isUntrusted === place?.text.isUntrusted && piece < place.piece))
      place = { text, piece };
  }
  return place === undefined ? undefined : { origins: [...origins], place: describe(place, wanted) };
}

function describe({ text, piece }: Place, wanted: readonly WantedText[]): string {
  const line = text.index.lineOf(wanted[piece] as WantedText);
  return `${line === undefined ? '' : `line ${line} of `}${text.callId}`;
}

/** With names of properties: a name and its value have the same pointer. */
function* textsIn(args: JsonObject): Generator<readonly [pointer: string, text: string]> {
  const waiting: (readonly [string, JsonValue])[] = [['', args]];
  let texts = 0;
  // By index: removing the first element of a long list would move the rest each time.
  for (let at = 0; at < waiting.length && texts < MOST_TEXTS; at++) {
    const [pointer, value] = waiting[at] as readonly [string, JsonValue];
    if (typeof value === 'string' || typeof value === 'number') {
      texts++;
      yield [pointer, String(value)];
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        const place = `${pointer}/${escapeKey(key)}`;
        waiting.push([place, each as JsonValue]);
        if (!isData(key)) continue;
        texts++;
        yield [place, key];
      }
    }
  }
}

/** A property's name that no tool declares, such as an address: `{ "recipients": { "a@example.org": "to" } }`. */
function isData(key: string): boolean {
  return key.length >= LEAST_CHARACTERS && /[^\w$-]/.test(key);
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * The whole argument, its words, and both decoded once; normalized, without duplicates. In a text of several words, an
 * ordinary one alone says nothing about its origin, so some of its runs of words are taken too.
 */
function piecesOf(argument: string, most: number): readonly WantedText[] {
  const pieces = new Set<string>();
  const take = (text: string): void => {
    if (pieces.size >= most) return;
    const normalized = normalize(text);
    if (normalized.length >= LEAST_CHARACTERS) pieces.add(normalized);
  };
  for (const form of [argument, decodedUrl(argument)]) {
    if (form === undefined) continue;
    const start = form.length > LONGEST_PIECE ? form.slice(0, LONGEST_PIECE).replace(HALF, '') : form;
    take(start);
    const tokens = start.split(/\s+/).filter((token) => token !== '');
    const isProse = tokens.length >= LEAST_OF_PROSE;
    for (const [at, token] of tokens.entries()) {
      const words = token.split(BETWEEN).filter((word) => word !== '');
      if (isProse && words.length === 1 && isOrdinary(words[0] ?? '', tokens[at - 1])) continue;
      for (const word of words) {
        take(word);
        // A page names `www.example.org/a`, and a model writes `https://www.example.org/a/`.
        take(word.replace(/^\/+|\/+$/g, ''));
        for (const decoded of decodedBase64(word)) take(decoded);
      }
    }
    // So any eight words in order contain a run.
    for (let at = 0; isProse && at + RUN <= tokens.length; at += RUN / 2)
      take(tokens.slice(at, at + RUN).join(''));
  }
  return Array.from(pieces, (piece) => new WantedText(piece));
}

/** Words. A text with fewer of them is a name, an address or a list. */
const LEAST_OF_PROSE = 5;
/** Words of a run. */
const RUN = 6;

/** `information` occurs in most long texts; `Riverside`, `a@b.example`, `newUser` and `PROJ-1234` do not. */
function isOrdinary(word: string, before: string | undefined): boolean {
  if (/^\p{Ll}+$/u.test(word)) return true;
  return /^\p{Lu}\p{Ll}+$/u.test(word) && (before === undefined || /[.!?:]["')\]]*$/.test(before));
}

/** The first half of a truncated surrogate pair. */
const HALF = /[\ud800-\udbff]$/;
/** A dot at the end of a sentence does not belong to the last word. */
const BETWEEN = /(?:[\s"'`<>()[\]{},;:!&=?#|]|\.(?=[\s"'`<>()[\]{},;:!&=?#|.]|$))+/;

function decodedUrl(text: string): string | undefined {
  if (!/%[0-9a-f]{2}/i.test(text)) return undefined;
  return text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, (signs) => {
    try {
      return decodeURIComponent(signs);
    } catch {
      return signs;
    }
  });
}

/** The decoded base64 in a word: the whole word, or the parts of an address between dots and slashes. */
function decodedBase64(word: string): readonly string[] {
  const parts = new Set([...(word.match(BASE64) ?? []), ...(word.match(BASE64_IN_PATH) ?? [])]);
  return Array.from(parts, (part) => Buffer.from(part, 'base64').toString('utf8')).filter(
    (text) => !text.includes('\ufffd'),
  );
}

/** Eleven characters stand for eight bytes. */
const BASE64 = /[A-Za-z0-9+/_-]{11,}/g;
const BASE64_IN_PATH = /[A-Za-z0-9+_-]{11,}/g;
