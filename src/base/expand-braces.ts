import { braceExpand } from 'minimatch';

/**
 * What the braces of a glob stand for, `a{b,c}` being `ab` and `ac`; at most one more than `max`, which says that there
 * are too many.
 */
export function expandBraces(pattern: string, max: number): readonly string[] {
  if (!pattern.includes('{')) return [pattern];
  return braceExpand(pattern, { braceExpandMax: max + 1 });
}
