import { dirname } from 'node:path';
import { forLast } from '../../base/for-last.js';
import { type PathPattern, parsePathPattern } from '../matching/path-pattern.js';
import { foldName, PathSubject } from '../matching/path-subject.js';
import { LATER_CODE } from './later-code-table.js';

/** The patterns of the table. */
export const LATER_CODE_PATTERNS: readonly string[] = LATER_CODE.flatMap(({ patterns }) => patterns);

/** Identifies paths that run later by themselves. Most paths match no pattern and cost a few look-ups. */
export class LaterCode {
  readonly #patterns: readonly string[];
  #index: PatternIndex | undefined;
  #above: readonly PathPattern[] | undefined;

  constructor(patterns: readonly string[] = LATER_CODE_PATTERNS) {
    this.#patterns = patterns;
  }

  /** @param path absolute and canonical, or relative to a root */
  has(path: string, roots: readonly string[]): boolean {
    const candidates = this.#candidates(path);
    if (candidates.length === 0) return false;
    const subject = new PathSubject({ written: path, canonical: () => path, outside: false, roots });
    return candidates.some((pattern) => pattern.matches(subject));
  }

  /** Whether a pattern passes through this path: a link there redirects everything below. */
  lies(path: string, roots: readonly string[]): boolean {
    return this.has(path, roots) || this.#leadsThrough(path, roots);
  }

  #leadsThrough(path: string, roots: readonly string[]): boolean {
    this.#above ??= [...new Set(this.#patterns.flatMap(directoriesOf))].flatMap((source) =>
      parsePathPattern(source, true),
    );
    const [here, around] = [path, dirname(path)].map(
      (at) => new PathSubject({ written: at, canonical: () => at, outside: false, roots }),
    ) as [PathSubject, PathSubject];
    // Such a pattern matches everything below the directory, but only the directory itself is meant.
    return this.#above.some((pattern) => pattern.matches(here) && !pattern.matches(around));
  }

  /** As named by a call or a command. */
  matches(subject: PathSubject): boolean {
    return subject
      .forms('absolute', true)
      .some((form) => this.#candidates(form.join('/')).some((pattern) => pattern.matches(subject)));
  }

  /** The patterns that may match a path. */
  #candidates(path: string): readonly PathPattern[] {
    this.#index ??= indexOf(this.#patterns);
    // Names beyond ASCII are compared in two spellings, so the path as written does not show what it contains.
    const folded = /[^\0-\x7f]/.test(path) ? undefined : path.toLowerCase();
    const end = path.lastIndexOf('/') + 1;
    const above = this.#ofNames((folded ?? path).slice(0, end));
    const own = this.#ofName((folded ?? path).slice(end));
    const others = this.#index.others.filter(
      ({ fragment }) => folded === undefined || folded.includes(fragment),
    );
    return own === undefined && above.length === 0 ? others : [...above, ...(own ?? []), ...others];
  }

  /** The patterns that a name in a directory's path may match. */
  readonly #ofNames = forLast((directory) =>
    directory.split('/').flatMap((name) => this.#ofName(name) ?? []),
  );

  #ofName(name: string): readonly PathPattern[] | undefined {
    return this.#index?.byName.get(/[^\0-\x7f]/.test(name) ? foldName(name) : name.toLowerCase());
  }
}

/** For `a/b/c`: `a` and `a/b`. */
function directoriesOf(pattern: string): readonly string[] {
  const parts = pattern.split('/');
  return parts
    .map((_, at) => parts.slice(0, at).join('/'))
    .filter((directory) => directory !== '' && !directory.endsWith('**'));
}

interface PatternIndex {
  readonly byName: ReadonlyMap<string, readonly PathPattern[]>;
  /** Patterns without a literal name. */
  readonly others: readonly PathPattern[];
}

/** @throws Error for an invalid pattern */
function indexOf(patterns: readonly string[]): PatternIndex {
  const byName = new Map<string, PathPattern[]>();
  const others: PathPattern[] = [];
  for (const pattern of patterns.flatMap((source) => parsePathPattern(source, true))) {
    const name = pattern.literalName;
    if (name === undefined) others.push(pattern);
    else byName.set(name, [...(byName.get(name) ?? []), pattern]);
  }
  return { byName, others };
}
