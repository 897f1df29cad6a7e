import { posix, sep } from 'node:path';

/** The known facts about a path of a call. */
export interface PathFacts {
  /** As the call or command wrote it. */
  readonly written: string;
  /** Canonical and absolute; undefined if unknown. Computed when the first path rule needs it. */
  readonly canonical: () => string | undefined;
  /** If the canonical path is unknown: it lies, or may lie, outside the roots. */
  readonly outside: boolean;
  readonly roots: readonly string[];
}

type Form = readonly string[];
type Kind = 'anywhere' | 'absolute' | 'relative';

/** A path in the forms that patterns need, each computed on first use. */
export class PathSubject {
  readonly #facts: PathFacts;
  #canonical: { readonly path: string | undefined } | undefined;
  readonly #forms = new Map<string, readonly Form[]>();

  constructor(facts: PathFacts) {
    this.#facts = facts;
  }

  get shown(): string {
    return this.#facts.written;
  }

  /** Undefined if it is unknown. */
  get canonical(): string | undefined {
    this.#canonical ??= { path: this.#facts.canonical() };
    return this.#canonical.path;
  }

  /**
   * @param tightens for a rule that asks or denies: every name of the path, folded. Otherwise only the real
   * one, or none if it is not certain.
   */
  forms(kind: Kind, tightens: boolean): readonly Form[] {
    const key = tightens ? `${kind}!` : kind;
    const known = this.#forms.get(key);
    if (known !== undefined) return known;
    const paths: string[] = [];
    for (const name of this.#names(tightens)) this.#addPaths(name, kind, paths);
    const forms = distinct(paths.flatMap((path) => spellings(path, tightens)));
    this.#forms.set(key, forms);
    return forms;
  }

  #names(tightens: boolean): readonly string[] {
    const { written, outside } = this.#facts;
    const { canonical } = this;
    if (!tightens) {
      if (canonical !== undefined) return [toSlashes(canonical)];
      return outside || !isCertain(written) ? [] : [posix.normalize(toSlashes(written))];
    }
    const own = toSlashes(written);
    const names = canonical === undefined ? [own] : [toSlashes(canonical), own];
    if (HAS_DOTS.test(own)) names.push(posix.normalize(own));
    return names;
  }

  /** Adds the name, or its remainder below each root; each path once, because most are equal. */
  #addPaths(name: string, kind: Kind, paths: string[]): void {
    const add = (path: string): void => {
      if (!paths.includes(path)) paths.push(path);
    };
    const isAbsolute = posix.isAbsolute(name) || /^[A-Za-z]:\//.test(name);
    if (kind === 'absolute' || !isAbsolute) {
      add(name);
      return;
    }
    let isInside = false;
    for (const root of this.#facts.roots) {
      const path = below(toSlashes(root), name);
      if (path === undefined) continue;
      isInside = true;
      add(path);
    }
    if (!isInside && kind === 'anywhere') add(name);
  }
}

/** It has empty parts, `.` or `..`. */
const HAS_DOTS = /(?:^|\/)\.{0,2}(?:\/|$)/;

function distinct(forms: readonly Form[]): readonly Form[] {
  if (forms.length < 2) return forms;
  return [...new Map(forms.map((form) => [form.join('/'), form])).values()];
}

/** Unifies names that some file systems treat as equal: case, a long s, an invisible character. */
export function foldName(name: string): string {
  if (!/[^\0-\x7f]/.test(name)) return name.toLowerCase();
  const folded = name
    .normalize('NFKC')
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .toLowerCase()
    .normalize('NFC');
  // A sign such as U+2100 would decompose into two names.
  return folded.includes('/') ? name.normalize('NFC').toLowerCase() : folded;
}

/** The first name of every absolute path, so `/etc` is never found inside a relative path. */
export const ROOT = '/';

function spellings(path: string, tightens: boolean): readonly Form[] {
  const isPlain = !/[^\0-\x7f]/.test(path);
  // ASCII text can be folded as a whole.
  const parts = (isPlain && tightens ? path.toLowerCase() : path)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/')) parts.unshift(ROOT);
  if (isPlain) return [parts];
  if (!tightens) return [parts.map((part) => part.normalize('NFC'))];
  const folded = parts.map((part) => (part === ROOT ? part : foldName(part)));
  return [folded, parts.map((part) => part.normalize('NFC').toLowerCase())];
}

/** Whether a path is literal: no shell expansion, no step up, no NUL. */
export function isCertain(path: string): boolean {
  return !/[\0*?[\]{}$`~]/.test(path) && !/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(path);
}

function below(root: string, path: string): string | undefined {
  if (path === root) return '';
  const start = root.endsWith('/') ? root : `${root}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}

function toSlashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
