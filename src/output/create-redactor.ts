import { REDACTION_MARKER } from '../contract/call.js';
import { createSanitizer, type Sanitizer } from './sanitize.js';

export interface Redactor {
  push(text: string): string;
  /** The rest. The redactor then stands at the beginning again. */
  end(): string;
}

/**
 * Hides exact values in a stream, also where a value is cut between chunks (F024: a stream knows exact values
 * only). Values that overlap are hidden together. Holds back only what may be the beginning of a value: who watches a
 * command sees its last line while it waits.
 * Values shorter than 6 characters, and words such as "password", are not hidden.
 */
export function createRedactor(values: readonly string[]): Redactor {
  const exact = createExactValues(values);
  if (exact.longest === 0) return { push: (text) => text, end: () => '' };
  let held = '';
  /** How much of `held` belongs to a value that is hidden already. */
  let covered = 0;

  return {
    push(text) {
      const all = held + text;
      // A value that begins before this place is whole by now.
      const certain = exact.findUnfinished(all);
      const { out, coveredTo } = hideValues(exact, all, covered, certain);
      held = all.slice(certain);
      covered = Math.max(0, coveredTo - certain);
      return out;
    },
    end() {
      const { out } = hideValues(exact, held, covered, held.length);
      held = '';
      covered = 0;
      return out;
    },
  };
}

/** Hides exact values in a whole text; one without any comes back as it is. */
export function redactValues(text: string, exact: ExactValues): string {
  return exact.find(text, 0) === undefined ? text : hideValues(exact, text, 0, text.length).out;
}

/**
 * Hides the values that begin before `certain`, and gives the text before it. The first `covered` units belong to a
 * value that is hidden already; `coveredTo` says how far the last hidden value reaches.
 */
function hideValues(
  exact: ExactValues,
  text: string,
  covered: number,
  certain: number,
): { out: string; coveredTo: number } {
  let out = '';
  let coveredTo = covered;
  let found = exact.find(text, 0);
  while (found !== undefined && found.start < certain) {
    // One that begins inside another is hidden with it.
    if (found.start >= coveredTo) out += text.slice(coveredTo, found.start) + REDACTION_MARKER;
    coveredTo = Math.max(coveredTo, found.end);
    found = exact.find(text, found.start + 1);
  }
  return { out: coveredTo < certain ? out + text.slice(coveredTo, certain) : out, coveredTo };
}

/** Shorter values would hit by chance. In UTF-16 units. */
const SHORTEST_VALUE = 6;

/** Values that say nothing, and stand everywhere in ordinary text. */
const TRIVIAL: ReadonlySet<string> = new Set(
  (
    'always bearer changeme default development disabled enabled example localhost master optional password ' +
    'placeholder production required secret staging string undefined unknown'
  ).split(' '),
);

const TABLE_SLOTS = 4096;

export interface ExactValues {
  /** Length of the longest value in UTF-16 units, 0 when there is none. */
  readonly longest: number;
  /** The first place, from `from` on, where a value begins, and the end of the longest value that begins there. */
  find(text: string, from: number): { start: number; end: number } | undefined;
  /** The first place from which on a text may be the beginning of a value that has not come whole; its length if none. */
  findUnfinished(text: string): number;
}

/**
 * Looks for several strings at once: a table of pairs of characters says how far away the beginning of the next value
 * is at least (Wu and Manber), so the number of values costs next to nothing. What cannot be a secret, and what could
 * not be told from the marker, is left out.
 */
export function createExactValues(values: readonly string[]): ExactValues {
  const sought = [...new Set(values.flatMap(withLines).map(clearOfMarker))]
    .filter(isWorthHiding)
    .sort((a, b) => b.length - a.length);
  const window = sought.at(-1)?.length ?? 0;
  const skips = skipTable(sought, window);
  const longest = sought[0]?.length ?? 0;
  const firsts = new Set(sought.map((value) => value.charCodeAt(0)));
  return {
    longest,
    findUnfinished(text) {
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
        if (!firsts.has(text.charCodeAt(at))) continue;
        const rest = text.slice(at);
        if (sought.some((value) => value.length > rest.length && value.startsWith(rest))) return at;
      }
      return text.length;
    },
    find(text, from) {
      if (window === 0) return undefined;
      for (let last = from + window - 1; last < text.length; ) {
        const skip = skips[slotOf(text.charCodeAt(last - 1), text.charCodeAt(last))] ?? 0;
        if (skip === 0) {
          const start = last - window + 1;
          const value = sought.find((candidate) => text.startsWith(candidate, start));
          if (value !== undefined) return { start, end: start + value.length };
        }
        last += Math.max(1, skip);
      }
      return undefined;
    },
  };
}

/** A value of several lines, and each of its lines: programs print them one by one, indented, or with a number before. */
function withLines(value: string): readonly string[] {
  if (!/[\r\n]/.test(value)) return [value];
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return [value, ...lines.filter((line) => line.length >= SHORTEST_LINE && !ARMOUR.test(line))];
}

const SHORTEST_LINE = 8;

/** The first and last line of a key: they stand in files that hold no secret too. */
const ARMOUR = /^-----(?:BEGIN|END) [A-Z0-9 ]*-----$/;

/** How far the window may move on, by the pair of characters at its end. */
function skipTable(sought: readonly string[], window: number): Uint8Array {
  const skips = new Uint8Array(TABLE_SLOTS).fill(Math.min(255, Math.max(0, window - 1)));
  for (const value of sought) {
    for (let at = 1; at < window; at++) {
      const slot = slotOf(value.charCodeAt(at - 1), value.charCodeAt(at));
      skips[slot] = Math.min(skips[slot] ?? 0, window - 1 - at);
    }
  }
  return skips;
}

function slotOf(first: number, second: number): number {
  return (first * 31 + second) & (TABLE_SLOTS - 1);
}

function isWorthHiding(value: string): boolean {
  if (value.length < SHORTEST_VALUE || TRIVIAL.has(value.toLowerCase())) return false;
  // Blanks, or one character again and again: every table and ruler is made of them.
  if (value.trim() === '' || value.replaceAll(value.charAt(0), '') === '') return false;
  return !REDACTION_MARKER.includes(value) && !value.includes(REDACTION_MARKER);
}

/**
 * A value that ends as the marker begins, or begins as it ends, would be found again across the border of a marker:
 * those characters are given up, so that redacting twice changes nothing.
 */
function clearOfMarker(value: string): string {
  for (let length = Math.min(value.length, REDACTION_MARKER.length) - 1; length > 0; length--) {
    if (value.endsWith(REDACTION_MARKER.slice(0, length))) return clearOfMarker(value.slice(0, -length));
    if (value.startsWith(REDACTION_MARKER.slice(-length))) return clearOfMarker(value.slice(length));
  }
  return value;
}

interface ByteRedactor {
  /** Gives what can be handed on by now: what may be the beginning of a value waits. */
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/**
 * Hides exact values in bytes of any kind, also where a value is cut between two pieces: for what is kept as it came,
 * programs and pictures too. Bytes without any are handed on as they are.
 */
export function createByteRedactor(values: readonly string[]): ByteRedactor {
  // Most programs have nothing to hide, and much to say.
  if (values.length === 0) return { push: (bytes) => bytes, end: () => new Uint8Array() };
  // One character a byte: whatever the bytes are, they come out of it again.
  const redactor = createRedactor(values.map((value) => toCharacters(Buffer.from(value, 'utf8'))));
  return {
    push(bytes) {
      const text = toCharacters(bytes);
      const shown = redactor.push(text);
      return shown === text ? bytes : Buffer.from(shown, 'latin1');
    },
    end: () => Buffer.from(redactor.end(), 'latin1'),
  };
}

function toCharacters(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/**
 * For output that is shown while it comes: neutralised, then cleared of exact values, over chunk borders too
 * (D077, F024). Rules need the whole text and are left to `cleanOutput`.
 */
export function createOutputPipe(values: readonly string[]): Sanitizer {
  const sanitizer = createSanitizer();
  const redactor = createRedactor(values);
  return {
    push: (chunk) => redactor.push(sanitizer.push(chunk)),
    end: () => redactor.push(sanitizer.end()) + redactor.end(),
  };
}
