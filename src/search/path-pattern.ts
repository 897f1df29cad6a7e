import { expandBraces as alternativesOf } from '../base/expand-braces.js';
import { ToolError } from '../errors/tool-error.js';
import { parseSegment, type SegmentPattern } from './segment-pattern.js';

/** A glob over paths relative to where is searched. */
export interface PathPattern {
  /** One for each way to choose among its braces. */
  readonly alternatives: readonly (readonly SegmentPattern[])[];
  /** It spells out a name that begins with a dot. */
  readonly namesHidden: boolean;
}

const MAX_ALTERNATIVES = 1000;
const MAX_LENGTH = 4096;

/**
 * Reads a glob: `**` (any number of directories), `*`, `?`, classes, braces, `\` before a character that is meant.
 * @throws ToolError `bad_args` for what is no glob, or names directories
 */
export function parsePathPattern(source: string): PathPattern {
  const flaw = flawOf(source);
  if (flaw !== undefined) throw badPattern(source, flaw);
  const texts = expandBraces(source);
  const alternatives = texts.map((text) => parseAlternative(source, text));
  return {
    alternatives,
    namesHidden: alternatives.some((segments) => segments.some(({ beginsWithDot }) => beginsWithDot)),
  };
}

/** @throws ToolError `bad_args` when there are too many */
export function expandBraces(source: string): readonly string[] {
  const alternatives = alternativesOf(source, MAX_ALTERNATIVES);
  if (alternatives.length <= MAX_ALTERNATIVES) return alternatives;
  throw badPattern(source, `its braces stand for more than ${MAX_ALTERNATIVES} patterns`);
}

export function badPattern(source: string, why: string): ToolError {
  const shown = source.length > 200 ? `${source.slice(0, 200)}…` : source;
  return new ToolError('bad_args', `Cannot use the pattern ${JSON.stringify(shown)}: ${why}.`);
}

const ANYTHING = parseSegment('*');

function parseAlternative(source: string, text: string): readonly SegmentPattern[] {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) throw badPattern(source, 'it names no file');
  if (parts.includes('..')) {
    throw badPattern(source, 'a ".." component is never followed. Give the directory as path');
  }
  const segments: SegmentPattern[] = [];
  for (const part of parts) {
    const segment = parseSegment(part);
    // Several in a row say no more than one.
    if (!(segment.isGlobstar && segments.at(-1)?.isGlobstar === true)) segments.push(segment);
  }
  // `src/**` means what is below, not a file called src.
  if (segments.at(-1)?.isGlobstar === true) segments.push(ANYTHING);
  return segments;
}

function flawOf(source: string): string | undefined {
  if (source.trim() === '') return 'it is blank. "**" finds every file';
  if (source.includes('\0')) return 'it holds a NUL character';
  if (source.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  if (source.endsWith('/'))
    return `it names directories, and only files are found. Use ${source.slice(0, 80)}**`;
  return undefined;
}
