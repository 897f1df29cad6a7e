import { REDACTION_MARKER } from '../contract/call.js';
import { createSanitizer, type Sanitizer } from './sanitize.js';

export interface Redactor {
  push(text: string): string;
  /** The rest of the text. Then the redactor is ready for a new text. */
  end(): string;
}

/**
 * Hides exact values in a stream, even if a value is split between chunks (F024: a stream knows exact values
 * only). Overlapping values are hidden together. Only a possible start of a value is held back, so the last
 * line of a waiting command is visible. Values shorter than 6 characters, and words such as "password", are
 * not hidden.
 */
export function createRedactor(values: readonly string[]): Redactor {
  const exact = createExactValues(values);
  if (exact.longest === 0) return { push: (text) => text, end: () => '' };
  let held = '';
  /** How many characters of `held` belong to a value that is already hidden. */
  let covered = 0;

  return {
    push(text) {
      const all = held + text;
      // A value that starts before this position is complete.
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

/** Hides exact values in a whole text. A text without any is returned unchanged. */
export function redactValues(text: string, exact: ExactValues): string {
  return exact.find(text, 0) === undefined ? text : hideValues(exact, text, 0, text.length).out;
}

/**
 * Hides the values that start before `certain`, and returns the text before it. The first `covered` units
 * belong to a value that is already hidden; `coveredTo` is the end of the last hidden value.
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
    // A value that starts inside another is hidden with it.
    if (found.start >= coveredTo) out += text.slice(coveredTo, found.start) + REDACTION_MARKER;
    coveredTo = Math.max(coveredTo, found.end);
    found = exact.find(text, found.start + 1);
  }
  return { out: coveredTo < certain ? out + text.slice(coveredTo, certain) : out, coveredTo };
}

/** Shorter values would match by chance. In UTF-16 units. */
const SHORTEST_VALUE = 6;

/** Common words that are not secret. */
const TRIVIAL: ReadonlySet<string> = new Set(
  (
    'always bearer changeme default development disabled enabled example localhost master optional password ' +
    'placeholder production required secret staging string undefined unknown'
  ).split(' '),
);

const TABLE_SLOTS = 4096;

export interface ExactValues {
  /** Length of the longest value in UTF-16 units; 0 if there are none. */
  readonly longest: number;
  /**
   * The first position, starting at `from`, where a value begins, and the end of the longest value that
   * begins there.
   */
  find(text: string, from: number): { start: number; end: number } | undefined;
  /**
   * The first position from which the text may be the start of an incomplete value; its length if there is
   * none.
   */
  findUnfinished(text: string): number;
}

/**
 * Searches for several strings at once. A table of character pairs gives the minimum distance to the next
 * value (Wu and Manber), so the number of values hardly matters. Values that cannot be secret, or that
 * resemble the marker, are left out.
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

/**
 * A value with several lines, and each of its lines: programs print them one by one, indented, or numbered.
 */
function withLines(value: string): readonly string[] {
  if (!/[\r\n]/.test(value)) return [value];
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return [value, ...lines.filter((line) => line.length >= SHORTEST_LINE && !ARMOUR.test(line))];
}

const SHORTEST_LINE = 8;

/** The first and last line of a key. They also appear in files without a secret. */
const ARMOUR = /^-----(?:BEGIN|END) [A-Z0-9 ]*-----$/;

/** How far the window may move, by the character pair at its end. */
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
  // Blanks, or one repeated character: tables and rulers consist of them.
  if (value.trim() === '' || value.replaceAll(value.charAt(0), '') === '') return false;
  return !REDACTION_MARKER.includes(value) && !value.includes(REDACTION_MARKER);
}

/**
 * Drops the characters of a value that overlap with the start or end of the marker. Otherwise redacting twice
 * would find the value again across a marker.
 */
function clearOfMarker(value: string): string {
  for (let length = Math.min(value.length, REDACTION_MARKER.length) - 1; length > 0; length--) {
    if (value.endsWith(REDACTION_MARKER.slice(0, length))) return clearOfMarker(value.slice(0, -length));
    if (value.startsWith(REDACTION_MARKER.slice(-length))) return clearOfMarker(value.slice(length));
  }
  return value;
}

interface ByteRedactor {
  /** Returns the certain part: a possible start of a value is held back. */
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/**
 * Hides exact values in bytes of any kind, even if a value is split between two pieces, for stored programs
 * and images too. Bytes without a value are unchanged.
 */
export function createByteRedactor(values: readonly string[]): ByteRedactor {
  // Most programs have no secrets and much output.
  if (values.length === 0) return { push: (bytes) => bytes, end: () => new Uint8Array() };
  // One character per byte, so every byte survives unchanged.
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
 * For live output: neutralized, then redacted by exact values, across chunks (D077, F024). Rules need the
 * whole text, so `cleanOutput` applies them.
 */
export function createOutputPipe(values: readonly string[]): Sanitizer {
  const sanitizer = createSanitizer();
  const redactor = createRedactor(values);
  return {
    push: (chunk) => redactor.push(sanitizer.push(chunk)),
    end: () => redactor.push(sanitizer.end()) + redactor.end(),
  };
}
