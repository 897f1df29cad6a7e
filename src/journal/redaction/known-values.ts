import { REDACTION_MARKER } from '../../contract/call.js';
import type { JsonValue } from '../../contract/json.js';
import { isLeftOut } from './left-out.js';

/** The search uses the first characters of a value. */
const PREFIX = 4;
/** Shorter values are hidden only as whole words. */
const SHORT = 6;
const SHORTEST_LINE = 8;
/** How many characters of a text are searched for words. */
const WORDS_OF = 16_384;
const MOST_VALUES = 50_000;
const MOST_CHARACTERS = 16_000_000;
const FILTER_SLOTS = 1 << 16;

/**
 * The values of omitted arguments, to hide them where a text repeats them: whole, line by line, and in JSON
 * and URL encoding. Values of fewer than 4 characters, and short plain words, are ignored because they are
 * common. Beyond 50,000 values or 16 million characters the oldest are dropped.
 */
export class KnownValues {
  readonly #byPrefix = new Map<string, string[]>();
  readonly #all = new Set<string>();
  /** The character pairs that start a value: one look skips most positions of a text. */
  readonly #filter = new Uint8Array(FILTER_SLOTS);
  #characters = 0;

  /** Adds every text and number in the value. */
  add(value: JsonValue): void {
    for (const text of leaves(value)) for (const form of formsOf(text)) this.#addForm(form);
  }

  /** Adds the words of its texts too: messages about a command quote parts of it. */
  addWords(value: JsonValue): void {
    for (const word of wordsOf(value)) if (word.length >= SHORT) this.#addForm(word);
  }

  /** Adds the words that look like a key: long, with letters and digits. Others are common. */
  addKeys(value: JsonValue): void {
    for (const word of wordsOf(value)) if (LIKE_A_KEY.test(word)) this.#addForm(word);
  }

  all(): Iterable<string> {
    return this.#all.values();
  }

  hide(text: string): string {
    if (this.#all.size === 0 || text.length < PREFIX) return text;
    let out = '';
    let copied = 0;
    for (let at = 0; at + PREFIX <= text.length; at++) {
      if (this.#filter[slotAt(text, at)] === 0) continue;
      const end = this.#endOfValue(text, at);
      if (end === 0) continue;
      // A value that starts inside another is hidden with it.
      if (at >= copied) out += text.slice(copied, at) + REDACTION_MARKER;
      copied = Math.max(copied, end);
    }
    return copied === 0 ? text : out + text.slice(copied);
  }

  /** Hides values in bytes of any kind; returns the same array if there are none. */
  hideBytes(bytes: Uint8Array): Uint8Array {
    if (this.#all.size === 0) return bytes;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const hidden = this.hide(text);
    return hidden === text ? bytes : Buffer.from(hidden, 'latin1');
  }

  #endOfValue(text: string, at: number): number {
    let end = 0;
    for (const value of this.#byPrefix.get(text.slice(at, at + PREFIX)) ?? []) {
      if (at + value.length <= end || !text.startsWith(value, at)) continue;
      if (value.length >= SHORT || standsAlone(text, at, at + value.length)) end = at + value.length;
    }
    return end;
  }

  #addForm(form: string): void {
    if (this.#all.has(form) || !isSought(form)) return;
    this.#all.add(form);
    this.#characters += form.length;
    const prefix = form.slice(0, PREFIX);
    const siblings = this.#byPrefix.get(prefix);
    if (siblings === undefined) this.#byPrefix.set(prefix, [form]);
    else siblings.push(form);
    this.#filter[slotAt(form, 0)] = 1;
    while (this.#all.size > MOST_VALUES || this.#characters > MOST_CHARACTERS) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest] = this.#all;
    if (oldest === undefined) return;
    this.#all.delete(oldest);
    this.#characters -= oldest.length;
    const prefix = oldest.slice(0, PREFIX);
    const left = (this.#byPrefix.get(prefix) ?? []).filter((value) => value !== oldest);
    if (left.length === 0) this.#byPrefix.delete(prefix);
    else this.#byPrefix.set(prefix, left);
  }
}

const LIKE_A_KEY = /^(?=.*\d)(?=.*[A-Za-z])[^/\\]{8,}$/;

function* wordsOf(value: JsonValue): Generator<string> {
  for (const text of leaves(value)) yield* text.slice(0, WORDS_OF).split(/[\s"'`=,;:|&<>()[\]{}@]+/);
}

export function* leaves(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string') {
    if (!isLeftOut(value)) yield value;
  } else if (typeof value === 'number') yield String(value);
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) yield* leaves(item);
}

function formsOf(text: string): readonly string[] {
  const lines = /[\r\n]/.test(text)
    ? text
        .split(/[\r\n]+/)
        .map((line) => line.trim())
        .filter((line) => line.length >= SHORTEST_LINE)
    : [];
  const wholes = [text, ...(text.trim() === text ? [] : [text.trim()]), ...lines];
  return wholes.flatMap((whole) => {
    const escaped = JSON.stringify(whole).slice(1, -1);
    const bytes = Buffer.from(whole, 'utf8').toString('latin1');
    return [...new Set([whole, escaped, inAddress(whole), bytes])];
  });
}

/** A lone surrogate has no such form. */
function inAddress(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

function isSought(value: string): boolean {
  if (value.length < PREFIX || (value.length < SHORT && /^[a-z]+$/.test(value))) return false;
  // Blanks, or one repeated character: tables and rulers consist of them.
  if (value.trim() === '' || value.replaceAll(value.charAt(0), '') === '') return false;
  return !REDACTION_MARKER.includes(value);
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !isWordCharacter(text.charCodeAt(start - 1)) && !isWordCharacter(text.charCodeAt(end));
}

function isWordCharacter(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
  );
}

function slotAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 257 + text.charCodeAt(at + 1)) & (FILTER_SLOTS - 1);
}
