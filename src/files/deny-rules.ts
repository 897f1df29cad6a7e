import { basename, dirname } from 'node:path';
import { forLast } from '../base/for-last.js';
import { compilePattern, type DenyPattern } from './compile-pattern.js';
import { createDenyMatcher, type DenyMatcher } from './deny-matcher.js';

export type Access = 'read' | 'write';

export interface DenyRules {
  /** The pattern that denies a path inside the roots, or a directory on its way; undefined if none does. */
  deniedBy(path: string, access: Access): string | undefined;
  /** The same for entries of a directory that is not denied itself. */
  deniedEntries(directory: string, access?: Access): (name: string) => boolean;
  /** The pattern that denies something below a path and names the path: `.config` for `.config/tool/**`. */
  deniedBelow(path: string): string | undefined;
}

interface DenyRulesOptions {
  readonly roots: readonly string[];
  readonly denied: DenyPatterns;
  readonly deniedWrite: DenyPatterns;
}

export interface DenyPatterns {
  /** Valid patterns of toolexec itself. */
  readonly builtin: readonly string[];
  /** From options. */
  readonly given: readonly string[];
}

const CACHED_DIRECTORIES = 8192;

/**
 * The built-in patterns are compiled when the first path is compared with them: that takes milliseconds.
 * @throws ToolError `config_invalid` for an invalid glob
 */
export function createDenyRules({ roots, denied, deniedWrite }: DenyRulesOptions): DenyRules {
  const given = compileAll(roots, denied.given, 'deniedPatterns');
  const givenWrite = compileAll(roots, deniedWrite.given, 'deniedWritePatterns');
  let made: DenyRules | undefined;
  const rules = (): DenyRules => {
    made ??= rulesOf(
      roots,
      createDenyMatcher(roots, [...compileAll(roots, denied.builtin, 'deniedPatterns'), ...given]),
      createDenyMatcher(roots, [
        ...compileAll(roots, deniedWrite.builtin, 'deniedWritePatterns'),
        ...givenWrite,
      ]),
    );
    return made;
  };
  return {
    deniedBy: (path, access) => rules().deniedBy(path, access),
    deniedBelow: (path) => rules().deniedBelow(path),
    deniedEntries: (directory, access) => rules().deniedEntries(directory, access),
  };
}

function compileAll(roots: readonly string[], patterns: readonly string[], option: string): DenyPattern[] {
  return patterns.flatMap((pattern) => compilePattern(pattern, option, roots));
}

function rulesOf(roots: readonly string[], matcher: DenyMatcher, writeMatcher: DenyMatcher): DenyRules {
  const read = inheriting(roots, matcher);
  const write = inheriting(roots, writeMatcher);
  return {
    deniedBy: (path, access) => read(path) ?? (access === 'write' ? write(path) : undefined),
    deniedBelow: (path) => matcher.leadsTo(path) ?? writeMatcher.leadsTo(path),
    deniedEntries(directory, access = 'read') {
      const matchers = access === 'read' ? [matcher] : [matcher, writeMatcher];
      const isRoot = roots.includes(directory);
      if (isRoot && matchers.some(({ below }) => below(directory) !== undefined)) return () => true;
      const patternsOf = matchers.map(({ entriesOf }) => entriesOf(directory));
      return (name) => patternsOf.some((patternOf) => patternOf(name) !== undefined);
    },
  };
}

/**
 * Entries of a denied directory are denied too. Roots themselves are not matched, because the host chose
 * them. The result depends on the string alone, so a cached result cannot be raced.
 */
function inheriting(roots: readonly string[], matcher: DenyMatcher): (path: string) => string | undefined {
  const inherited = new Map<string, string | undefined>();
  const inheritedFrom = forLast((directory): string | undefined => {
    if (!inherited.has(directory)) {
      if (inherited.size >= CACHED_DIRECTORIES) inherited.clear();
      const isRoot = roots.includes(directory);
      inherited.set(directory, isRoot ? matcher.below(directory) : verdictOn(directory));
    }
    return inherited.get(directory);
  });
  const verdictOn = (path: string): string | undefined =>
    roots.includes(path) ? undefined : (inheritedFrom(dirname(path)) ?? matcher.entry(path, basename(path)));
  return verdictOn;
}
