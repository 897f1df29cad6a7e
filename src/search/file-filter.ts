import { isNegated } from '../patterns/glob.js';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { createPathMatcher, type PathMatcher, type PathPattern, parsePathPattern } from './path-matcher.js';
import { excludeGlob, narrowNames } from './ripgrep-globs.js';

/** Selects files by path. Ripgrep only narrows the candidates. */
export interface FileFilter {
  readonly admits: PathMatcher;
  /** Arguments that let ripgrep skip some files that would not be selected. */
  readonly narrowing: readonly string[];
  /** The pattern names an entry that starts with a dot. */
  readonly namesHidden: boolean;
  /** The pattern names `.git`, which is skipped otherwise. */
  readonly namesGit: boolean;
}

/** Selects files by a glob over the whole path. @throws ToolError `bad_args` */
export function filterByPath(pattern: string, includeHidden: boolean): FileFilter {
  return filterFor(parsePathPattern(pattern), includeHidden, true);
}

/**
 * Selects files by a .gitignore rule: without a slash by name, with a leading `!` all others.
 * @param narrows false if ripgrep already has a file type: it would accept files of either type
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
