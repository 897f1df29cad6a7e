import { basename, dirname } from 'node:path';
import { compilePattern } from './compile-pattern.js';
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
  readonly denied: readonly string[];
  readonly deniedWrite: readonly string[];
}

const CACHED_PATHS = 8192;

/** @throws ToolError `config_invalid` for an invalid glob */
export function createDenyRules(options: DenyRulesOptions): DenyRules {
  const { roots } = options;
  const matcher = createDenyMatcher(
    roots,
    options.denied.flatMap((pattern) => compilePattern(pattern, 'deniedPatterns', roots)),
  );
  const writeMatcher = createDenyMatcher(
    roots,
    options.deniedWrite.flatMap((pattern) => compilePattern(pattern, 'deniedWritePatterns', roots)),
  );
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
  const verdicts = new Map<string, string | undefined>();
  const verdictOn = (path: string): string | undefined => {
    if (verdicts.has(path)) return verdicts.get(path);
    const verdict = compute(path);
    if (verdicts.size >= CACHED_PATHS) verdicts.clear();
    verdicts.set(path, verdict);
    return verdict;
  };
  const compute = (path: string): string | undefined => {
    if (roots.includes(path)) return undefined;
    const parent = dirname(path);
    const inherited = roots.includes(parent) ? matcher.below(parent) : verdictOn(parent);
    return inherited ?? matcher.entry(path, basename(path));
  };
  return verdictOn;
}
