import { sep } from 'node:path';
import { covers } from '../base/covers.js';
import { foldCase } from '../patterns/fold-case.js';
import { type DenyPattern, ROOT } from './compile-pattern.js';

/** Finds the pattern that matches one entry. The caller handles inheritance from its directory. */
export interface DenyMatcher {
  /** `name` is the last part of `path`. */
  entry(path: string, name: string): string | undefined;
  /** The same for many entries of one directory. */
  entriesOf(directory: string): (name: string) => string | undefined;
  /** The pattern that passes through this directory. */
  leadsTo(path: string): string | undefined;
  /** The pattern that matches everything below a root because of the root's own place. */
  below(root: string): string | undefined;
}

/**
 * Plain names are looked up in a map; other patterns run only if they may match, because a listing checks
 * every entry.
 */
export function createDenyMatcher(roots: readonly string[], patterns: readonly DenyPattern[]): DenyMatcher {
  const literals = new Map<string, string>();
  for (const { literalName, source } of patterns) {
    if (literalName !== undefined && !literals.has(literalName)) literals.set(literalName, source);
  }
  const others = patterns.filter((pattern) => pattern.literalName === undefined);
  const patternOf = (path: string, name: string, spell: (text: string) => string): string | undefined => {
    const lower = foldCase(spell(name));
    const literal = literals.get(lower);
    if (literal !== undefined) return literal;
    for (const pattern of others) {
      if (pattern.mayMatch(lower) && concerns(pattern, 'matches', roots, path, spell)) return pattern.source;
    }
    return undefined;
  };
  const mayConcern = quickTest(patterns);
  const entry: DenyMatcher['entry'] = (path, name) => {
    if (!NOT_ASCII.test(path)) return mayConcern(name) ? patternOf(path, name, asIs) : undefined;
    return patternOf(path, name, composed) ?? patternOf(path, name, plainSpelling);
  };
  return {
    entry,
    entriesOf(directory) {
      const isPlain = !NOT_ASCII.test(directory);
      const start = directory.endsWith(sep) ? directory : directory + sep;
      // Most names match no pattern and need no path.
      return (name) =>
        isPlain && !NOT_ASCII.test(name) && !mayConcern(name) ? undefined : entry(start + name, name);
    },
    leadsTo(path) {
      const spellings = NOT_ASCII.test(path) ? [composed, plainSpelling] : [asIs];
      const leads = patterns.find((pattern) =>
        spellings.some((spell) => concerns(pattern, 'leadsTo', roots, path, spell)),
      );
      return leads?.source;
    },
    below: onceFor((root) => {
      const spellings = NOT_ASCII.test(root) ? [composed, plainSpelling] : [asIs];
      const names = spellings.map((spell) => absoluteNames(root, spell));
      return patterns.find((pattern) => names.some((each) => pattern.coversBelow(each)))?.source;
    }),
  };
}

/** Caches results: there are few roots and many calls. */
function onceFor<T>(find: (root: string) => T): (root: string) => T {
  const known = new Map<string, { readonly found: T }>();
  return (root) => {
    const before = known.get(root) ?? { found: find(root) };
    known.set(root, before);
    return before.found;
  };
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Whether any pattern may match an ASCII name, by its first and last character. No false negatives. */
function quickTest(patterns: readonly DenyPattern[]): (name: string) => boolean {
  const firsts = new Uint8Array(128);
  const lasts = new Uint8Array(128);
  const mark = (table: Uint8Array, char: string): void => {
    table[char.charCodeAt(0)] = 1;
    table[char.toUpperCase().charCodeAt(0)] = 1;
  };
  for (const { head, tail } of patterns) {
    if (head !== '') mark(firsts, head);
    else if (tail !== '') mark(lasts, tail.slice(-1));
    else firsts.fill(1);
  }
  return (name) => firsts[name.charCodeAt(0)] === 1 || lasts[name.charCodeAt(name.length - 1)] === 1;
}

function concerns(
  pattern: DenyPattern,
  question: 'matches' | 'leadsTo',
  roots: readonly string[],
  path: string,
  spell: (text: string) => string,
): boolean {
  if (pattern.subject !== 'relative') return pattern[question](absoluteNames(path, spell));
  return roots.some(
    (root) => covers(root, path) && pattern[question](namesOf(spell(path.slice(root.length)))),
  );
}

const asIs = (text: string): string => text;
const composed = (text: string): string => text.normalize('NFC');

/**
 * Unifies names that some file systems treat as equal, for example with a long s or an invisible character.
 */
const plainSpelling = (text: string): string =>
  text.normalize('NFKC').replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '');

function absoluteNames(path: string, spell: (text: string) => string): readonly string[] {
  const names = namesOf(spell(path));
  return sep === '/' || path.startsWith(sep) ? [ROOT, ...names] : names;
}

function namesOf(path: string): readonly string[] {
  return foldCase(path)
    .split(sep)
    .filter((name) => name !== '');
}
