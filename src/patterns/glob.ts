import { classEnd, expandBraces } from './braces.js';
import { parseSegment, type Segment, type SegmentOptions } from './segment.js';
import { matchSequence } from './wildcard.js';

/** One way to choose among the braces of a glob. */
export interface Glob {
  /** It begins with a slash. */
  readonly isAbsolute: boolean;
  /** Between its slashes; without empty parts, without `.`, and never two `**` in a row. */
  readonly parts: readonly Segment[];
}

const MAX_LENGTH = 4096;

/**
 * Reads a glob: what `parseSegment` reads between slashes, `**` for any number of names, and what `expandBraces` reads.
 * @throws Error that says what makes it mean less than its author thinks
 */
export function parseGlob(source: string, options: SegmentOptions = {}): readonly Glob[] {
  const flaw = flawOf(source);
  if (flaw !== undefined) throw new Error(flaw);
  return expandBraces(source).map((text) => ({
    isAbsolute: text.startsWith('/'),
    parts: partsOf(text, options),
  }));
}

/** `!x` instead of a glob; `!(x)` is a group. */
export function isNegated(source: string): boolean {
  return source.startsWith('!') && source[1] !== '(';
}

/** Whether a part of a glob may match other names than itself. */
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
    // Several `**` in a row say no more than one.
    if (!(segment.isMany && parts.at(-1)?.isMany === true)) parts.push(segment);
  }
  if (parts.length === 0 && !text.startsWith('/')) throw new Error('it names nothing');
  return parts;
}

/** Whether the parts stand for the whole path. */
export function matchesParts(parts: readonly Segment[], names: readonly string[]): boolean {
  return matchSequence(parts, names, isMany, matchesName);
}

const isMany = (part: Segment): boolean => part.isMany;
const matchesName = (part: Segment, name: string): boolean => part.matches(name);

/** The parts that may come next, by their places: how far a path has led into a glob. */
export type Places = readonly number[];
export type NameTest = (part: Segment, name: string) => boolean;

export function firstPlaces(parts: readonly Segment[]): Places {
  return passMany(parts, [0]);
}

/** One name further. All ways through the glob are followed side by side: the time is linear. */
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

/** `**` may also stand for no name at all. */
function passMany(parts: readonly Segment[], places: Places): Places {
  const passed = new Set<number>();
  for (const place of places) {
    let end = place;
    while (parts[end]?.isMany === true) passed.add(end++);
    passed.add(end);
  }
  return [...passed].filter((place) => place < parts.length);
}
