import { isNegated } from '../patterns/glob.js';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { createPathMatcher, type PathMatcher, type PathPattern, parsePathPattern } from './path-matcher.js';
import { excludeGlob, narrowNames } from './ripgrep-globs.js';

/** Which files are meant: decided here, path by path; ripgrep only narrows what comes. */
export interface FileFilter {
  readonly admits: PathMatcher;
  /** Arguments that let ripgrep leave out some of what would not be admitted. */
  readonly narrowing: readonly string[];
  /** The pattern spells out a name that begins with a dot. */
  readonly namesHidden: boolean;
  /** It spells out `.git`, which is left out otherwise. */
  readonly namesGit: boolean;
}

/** Files by a glob over their whole path. @throws ToolError `bad_args` */
export function filterByPath(pattern: string, includeHidden: boolean): FileFilter {
  return filterFor(parsePathPattern(pattern), includeHidden, true);
}

/**
 * Files as a .gitignore names them: without a slash by name alone, with a leading `!` all others.
 * @param narrows false where ripgrep has been given a file type already: two would both be let through
 * @throws ToolError `bad_args`
 */
export function filterByRule(rule: string | undefined, includeHidden: boolean, narrows: boolean): FileFilter {
  if (rule === undefined) return filterFor(parsePathPattern('**'), includeHidden, false);
  if (!isNegated(rule)) return filterFor(atAnyDepth(rule), includeHidden, narrows);
  const excluded = atAnyDepth(rule.slice(1).replace(/(?<=.)\/+$/, ''));
  const everything = filterByRule(undefined, includeHidden, false);
  const below: PathPattern = {
    ...excluded,
    alternatives: excluded.alternatives.flatMap((segments) => [segments, [...segments, ...BELOW]]),
  };
  const isExcluded = createPathMatcher(below, true);
  return {
    ...everything,
    admits(directory) {
      const isVisible = everything.admits(directory);
      const isExcludedHere = isExcluded(directory);
      if (isVisible === undefined || isExcludedHere === undefined) return isVisible;
      return (name) => isVisible(name) && !isExcludedHere(name);
    },
    narrowing: excluded.alternatives.flatMap((segments) => {
      const glob = excludeGlob(segments);
      return glob === undefined ? [] : ['--glob', glob];
    }),
  };
}

const GLOBSTAR = parseSegment('**');
const BELOW: readonly Segment[] = [GLOBSTAR, parseSegment('*')];

function atAnyDepth(rule: string): PathPattern {
  const pattern = parsePathPattern(rule);
  if (rule.includes('/')) return pattern;
  return { ...pattern, alternatives: pattern.alternatives.map((segments) => [GLOBSTAR, ...segments]) };
}

function filterFor(pattern: PathPattern, includeHidden: boolean, narrows: boolean): FileFilter {
  return {
    admits: createPathMatcher(pattern, includeHidden),
    narrowing: narrows ? narrowNames(pattern) : [],
    namesHidden: pattern.namesHidden,
    namesGit: pattern.alternatives.some((segments) => segments.some(({ literal }) => literal === '.git')),
  };
}
