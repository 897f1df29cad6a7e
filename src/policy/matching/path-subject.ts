import { posix, sep } from 'node:path';

/** What is known of a path that a call touches. */
export interface PathFacts {
  /** As the call or the command wrote it. */
  readonly written: string;
  /** Canonical and absolute; undefined: not known. Asked for when the first rule about paths is compared with it. */
  readonly canonical: () => string | undefined;
  /** Where that is not known: it lies outside the roots, or may. */
  readonly outside: boolean;
  readonly roots: readonly string[];
}

type Form = readonly string[];
type Kind = 'anywhere' | 'absolute' | 'relative';

/** A path in the forms that patterns are compared with, each made when the first pattern asks for it. */
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

  /**
   * @param tightens for a rule that asks or denies: every name the path goes by, folded. Else the real one alone, and
   *   none where it is not known for certain.
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
    this.#canonical ??= { path: this.#facts.canonical() };
    const canonical = this.#canonical.path;
    if (!tightens) {
      if (canonical !== undefined) return [toSlashes(canonical)];
      return outside || !isCertain(written) ? [] : [posix.normalize(toSlashes(written))];
    }
    const own = toSlashes(written);
    const names = canonical === undefined ? [own] : [toSlashes(canonical), own];
    if (HAS_DOTS.test(own)) names.push(posix.normalize(own));
    return names;
  }

  /** The name, or what is left of it below each root; each path once, as most names come to the same. */
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

/** Makes one of the names that some file systems take for the same: case, a long s, an invisible character. */
export function foldName(name: string): string {
  if (!/[^\0-\x7f]/.test(name)) return name.toLowerCase();
  const folded = name
    .normalize('NFKC')
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .toLowerCase()
    .normalize('NFC');
  // A sign such as U+2100 would come apart into two names.
  return folded.includes('/') ? name.normalize('NFC').toLowerCase() : folded;
}

/** Begins every absolute path, so that `/etc` is never found in a path from a root. */
export const ROOT = '/';

function spellings(path: string, tightens: boolean): readonly Form[] {
  const isPlain = !/[^\0-\x7f]/.test(path);
  // What is ASCII folds as a whole.
  const parts = (isPlain && tightens ? path.toLowerCase() : path)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/')) parts.unshift(ROOT);
  if (isPlain) return [parts];
  if (!tightens) return [parts.map((part) => part.normalize('NFC'))];
  const folded = parts.map((part) => (part === ROOT ? part : foldName(part)));
  return [folded, parts.map((part) => part.normalize('NFC').toLowerCase())];
}

/** A path that is text as it stands: nothing that a shell would expand, no step up, no NUL. */
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
