import { classEnd, expandBraces } from './braces.js';
import { parseSegment, type Segment, type SegmentOptions } from './segment.js';
import { matchSequence } from './wildcard.js';

/** One alternative of a glob's braces. */
export interface Glob {
  /** It starts with a slash. */
  readonly isAbsolute: boolean;
  /** The parts between slashes, without empty parts and `.`, and never two `**` in a row. */
  readonly parts: readonly Segment[];
}

const MAX_LENGTH = 4096;

/**
 * Parses a glob: parts that `parseSegment` reads between slashes, `**` for any number of names, and braces.
 * @throws Error if the glob matches less than its author probably expects
 */
export function parseGlob(source: string, options: SegmentOptions = {}): readonly Glob[] {
  const flaw = flawOf(source);
  if (flaw !== undefined) throw new Error(flaw);
  return expandBraces(source).map((text) => ({
    isAbsolute: text.startsWith('/'),
    parts: partsOf(text, options),
  }));
}

/** `!x` is a negated glob; `!(x)` is a group. */
export function isNegated(source: string): boolean {
  return source.startsWith('!') && source[1] !== '(';
}

/** Whether a part of a glob can match names other than itself. */
export function hasWildcards(part: string): boolean {
  return /[*?[\]{}\\]|[+@!]\(/.test(part);
}

function flawOf(source: string): string | undefined {
  if (source.trim() === '') return 'it is empty';
  if (source.includes('\0')) return 'it holds a NUL character';
  if (source.trim() !== source)
    return 'it begins or ends with a blank; a name that does is written with "[ ]"';
  if (/^~(?:\/|$)/.test(source)) return '"~" is not expanded; write the absolute path';
  if (/^\$(?:\{\w+\}|[A-Z_]+)\//.test(source)) return 'variables are not expanded; write the path itself';
  if (/^(?:[^\\]|\\[^A-Za-z0-9])*\\[A-Za-z0-9]/.test(source))
    return 'a "\\" stands before a letter or digit, where it means nothing: names are separated by "/"';
  if (source.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  let open = 0;
  for (let at = 0; at < source.length; at++) {
    const character = source[at];
    if (character === '\\') at++;
    else if (character === '[') at = classEnd(source, at);
    else if (character === '{') open++;
    else if (character === '}' && --open < 0) return 'a "}" was never opened';
  }
  return open > 0 ? 'a "{" is not closed' : undefined;
}

function partsOf(text: string, options: SegmentOptions): readonly Segment[] {
  const parts: Segment[] = [];
  for (const part of text.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') throw new Error('paths are compared without "..", so that it would match nothing');
    const segment = parseSegment(part, options);
    // Several `**` in a row are the same as one.
    if (!(segment.isMany && parts.at(-1)?.isMany === true)) parts.push(segment);
  }
  if (parts.length === 0 && !text.startsWith('/')) throw new Error('it names nothing');
  return parts;
}

/** Whether the parts match the whole path. */
export function matchesParts(parts: readonly Segment[], names: readonly string[]): boolean {
  return matchSequence(parts, names, isMany, matchesName);
}

const isMany = (part: Segment): boolean => part.isMany;
const matchesName = (part: Segment, name: string): boolean => part.matches(name);

/** The indices of the parts that may come next, after a path has matched so far. */
export type Places = readonly number[];
export type NameTest = (part: Segment, name: string) => boolean;

export function firstPlaces(parts: readonly Segment[]): Places {
  return passMany(parts, [0]);
}

/** Continues with one name. All readings of the glob advance together, so the time is linear. */
export function nextPlaces(
  parts: readonly Segment[],
  places: Places,
  name: string,
  test: NameTest = matchesName,
): Places {
  const further: number[] = [];
  for (const place of places) {
    const part = parts[place];
    if (part === undefined || !test(part, name)) continue;
    further.push(part.isMany ? place : place + 1);
  }
  return passMany(parts, further);
}

/** `**` also matches no name. */
function passMany(parts: readonly Segment[], places: Places): Places {
  const passed = new Set<number>();
  for (const place of places) {
    let end = place;
    while (parts[end]?.isMany === true) passed.add(end++);
    passed.add(end);
  }
  return [...passed].filter((place) => place < parts.length);
}
