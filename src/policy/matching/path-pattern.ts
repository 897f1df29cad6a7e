import { expandBraces } from '../../base/expand-braces.js';
import { readGlobPieces } from './glob-pieces.js';
import { foldName, type PathSubject, ROOT } from './path-subject.js';
import { literalCount, literalText, matchesWildcard, matchSequence, type Piece } from './wildcard.js';

/** One alternative of a path pattern, ready to be asked. */
export interface PathPattern {
  readonly source: string;
  /** What it is compared with: names anywhere below a root, the absolute path, the path from a root. */
  readonly subject: 'anywhere' | 'absolute' | 'relative';
  /** The parts that it begins with, as far as they are literal: what an index looks it up by. */
  readonly head: readonly string[];
  /** A pattern for one name that may stand anywhere. */
  readonly name: string | undefined;
  readonly isLiteral: boolean;
  readonly literalCharacters: number;
  matches(path: PathSubject): boolean;
}

type Part = typeof MANY | readonly Piece[];
const MANY: unique symbol = Symbol('**');
const MAX_ALTERNATIVES = 1000;

/**
 * Reads a path pattern as the sandbox reads its deny patterns: a name without a slash holds at any depth, what begins
 * with a slash or with `**` for the absolute path, everything else from a root. What tightens ignores case, holds for
 * all below a matching directory, and sees through characters that some file systems take for the same. What allows
 * does none of that: consent is for what was named.
 * @throws Error that says what is wrong with it.
 */
export function parsePathPattern(source: string, tightens: boolean): PathPattern[] {
  const flaw = flawOf(source);
  if (flaw !== undefined) throw new Error(flaw);
  const alternatives = expandBraces(source, MAX_ALTERNATIVES);
  if (alternatives.length > MAX_ALTERNATIVES)
    throw new Error(`it has more than ${MAX_ALTERNATIVES} alternatives`);
  return alternatives.map((text) => parseAlternative(source, text, tightens));
}

function flawOf(source: string): string | undefined {
  if (source.trim() === '') return 'it is empty';
  if (source.length > 4096) return 'it is longer than 4096 characters';
  if (source.includes('\0')) return 'it holds a NUL character';
  if (source.startsWith('!')) return 'a pattern cannot be negated; write a rule with the other decision';
  if (source.startsWith('~')) return '"~" is not expanded; write the absolute path';
  if (/(?<!\\)[?*+@!]\(/.test(source)) return 'groups such as +(a) are not known here; use {a,b}';
  if (/(?:^|\/)\.\.(?:\/|$)/.test(source))
    return 'paths are compared without "..", so that it would match nothing';
  let open = 0;
  for (const [brace] of source.replace(/\\./g, '').matchAll(/[{}]/g)) {
    open += brace === '{' ? 1 : -1;
    if (open < 0) return 'a "}" was never opened';
  }
  return open > 0 ? 'a "{" is not closed' : undefined;
}

function parseAlternative(source: string, alternative: string, tightens: boolean): PathPattern {
  const text = alternative
    .normalize('NFC')
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?<=[^/])\/+$/, '');
  const fold = tightens ? foldName : (part: string): string => part;
  const isAnywhere = /^(?:\*\*\/)*[^/]+$/.test(text);
  const subject = isAnywhere ? 'anywhere' : /^(?:\*\*)?\//.test(text) ? 'absolute' : 'relative';
  const own: Part[] = text
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map((part) => (part === '**' ? MANY : readGlobPieces(part, fold)));
  if (text.startsWith('/')) own.unshift([ROOT]);
  const parts = settleEnds(own, subject, tightens);
  const pieces = own.flatMap((part) => (part === MANY ? [] : part));
  const names = own.filter((part): part is readonly Piece[] => part !== MANY);
  return {
    source,
    subject,
    head: subject === 'anywhere' ? [] : headOf(own),
    name: isAnywhere && names[0] !== undefined ? literalText(names[0]) : undefined,
    isLiteral: names.length === own.length && literalText(pieces) !== undefined,
    literalCharacters: literalCount(pieces),
    matches: (path) => path.forms(subject, tightens).some((form) => matchesParts(parts, form)),
  };
}

/** What tightens holds below, and `x/**` means x too; what allows is meant as it stands. */
function settleEnds(
  own: readonly Part[],
  subject: PathPattern['subject'],
  tightens: boolean,
): readonly Part[] {
  const parts: readonly Part[] = subject === 'anywhere' && own[0] !== MANY ? [MANY, ...own] : [...own];
  const isEverything = own.every((part) => part === MANY);
  if (isEverything) return parts;
  if (tightens) return parts.at(-1) === MANY ? parts : [...parts, MANY];
  return parts.at(-1) === MANY ? [...parts.slice(0, -1), ONE_NAME, MANY] : parts;
}

const ONE_NAME: Part = readGlobPieces('*', (text) => text);

function headOf(parts: readonly Part[]): readonly string[] {
  const head: string[] = [];
  for (const part of parts) {
    const text = part === MANY ? undefined : literalText(part);
    if (text === undefined) break;
    head.push(text);
  }
  return head;
}

function matchesParts(parts: readonly Part[], path: readonly string[]): boolean {
  return matchSequence(
    parts,
    path,
    (part) => part === MANY,
    (part, name) => part !== MANY && matchesWildcard(part, name),
  );
}
