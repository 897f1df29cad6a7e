import { sep } from 'node:path';
import { covers } from '../base/covers.js';
import type { DenyPattern } from './compile-pattern.js';

/** Says which pattern speaks of one entry; what its directory passes on to it is the caller's business. */
export interface Judge {
  /** `name` is the last part of `path`. */
  entry(path: string, name: string): string | undefined;
  /** The same, for many entries of one directory. */
  entriesOf(directory: string): (name: string) => string | undefined;
  /** The pattern that speaks of all below a root, because of where that root lies. */
  below(root: string): string | undefined;
}

/** Plain names are looked up, the other patterns asked only where they may match: a listing asks for every entry. */
export function createJudge(roots: readonly string[], patterns: readonly DenyPattern[]): Judge {
  const literals = new Map<string, string>();
  for (const { literalName, source } of patterns) {
    if (literalName !== undefined && !literals.has(literalName)) literals.set(literalName, source);
  }
  const others = patterns.filter((pattern) => pattern.literalName === undefined);
  const judge = (path: string, name: string): string | undefined => {
    const lower = name.toLowerCase();
    const literal = literals.get(lower);
    if (literal !== undefined) return literal;
    for (const pattern of others) {
      if (pattern.mayMatch(lower) && speaksOf(pattern, roots, path, name)) return pattern.source;
    }
    return undefined;
  };
  const mayConcern = quickTest(patterns);
  const entry: Judge['entry'] = (path, name) => {
    if (!NOT_ASCII.test(path)) return judge(path, name);
    return judge(path.normalize('NFC'), name.normalize('NFC')) ?? judge(fold(path), fold(name));
  };
  return {
    entry,
    entriesOf(directory) {
      const isPlain = !NOT_ASCII.test(directory);
      const start = directory.endsWith(sep) ? directory : directory + sep;
      // Most names concern no pattern, and need no path.
      return (name) =>
        isPlain && !NOT_ASCII.test(name) && !mayConcern(name) ? undefined : entry(start + name, name);
    },
    below: (root) => patterns.find((pattern) => pattern.coversBelow(toSlashes(root)))?.source,
  };
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Whether any pattern may match an ASCII name, told by its first and its last character. Never wrongly false. */
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

function speaksOf(pattern: DenyPattern, roots: readonly string[], path: string, name: string): boolean {
  if (pattern.subject === 'name') return pattern.matches(name);
  if (pattern.subject === 'absolute') return pattern.matches(toSlashes(path));
  return roots.some((root) => covers(root, path) && pattern.matches(relativeTo(root, path)));
}

/** Makes one of the names that some file systems take for the same: with a long s, or an invisible character. */
function fold(path: string): string {
  return path.normalize('NFKC').replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '');
}

function relativeTo(root: string, path: string): string {
  return toSlashes(path.slice(root.endsWith(sep) ? root.length : root.length + sep.length));
}

function toSlashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
