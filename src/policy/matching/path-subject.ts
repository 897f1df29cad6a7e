import { posix, sep } from 'node:path';

/** What is known of a path that a call touches. */
export interface PathFacts {
  /** As the call or the command wrote it. */
  readonly written: string;
  /** Canonical and absolute, where somebody has resolved it. */
  readonly canonical: string | undefined;
  /** Somebody could have resolved it, and it lies outside the roots. */
  readonly outside: boolean;
  readonly roots: readonly string[];
}

type Form = readonly string[];
type Kind = 'anywhere' | 'absolute' | 'relative';

/** A path in the forms that patterns are compared with, each made when the first pattern asks for it. */
export class PathSubject {
  readonly #facts: PathFacts;
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
    const forms = distinct(this.#names(tightens).flatMap((name) => this.#formsOf(name, kind, tightens)));
    this.#forms.set(key, forms);
    return forms;
  }

  #names(tightens: boolean): readonly string[] {
    const { written, canonical, outside } = this.#facts;
    if (!tightens) {
      if (canonical !== undefined) return [toSlashes(canonical)];
      return outside || !isCertain(written) ? [] : [posix.normalize(toSlashes(written))];
    }
    const names = [toSlashes(written), posix.normalize(toSlashes(written))];
    if (canonical !== undefined) names.unshift(toSlashes(canonical));
    return [...new Set(names)];
  }

  #formsOf(name: string, kind: Kind, tightens: boolean): readonly Form[] {
    const isAbsolute = posix.isAbsolute(name) || /^[A-Za-z]:\//.test(name);
    const relatives = isAbsolute
      ? this.#facts.roots.map((root) => below(toSlashes(root), name)).filter((path) => path !== undefined)
      : [name];
    const chosen =
      kind === 'absolute' || (kind === 'anywhere' && relatives.length === 0) ? [name] : relatives;
    return chosen.flatMap((path) => spellings(path, tightens));
  }
}

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
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/')) parts.unshift(ROOT);
  if (!tightens) return [parts.map((part) => part.normalize('NFC'))];
  const folded = parts.map((part) => (part === ROOT ? part : foldName(part)));
  if (!/[^\0-\x7f]/.test(path)) return [folded];
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
