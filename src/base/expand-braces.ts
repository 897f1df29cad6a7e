import { createRequire } from 'node:module';

/**
 * What the braces of a glob stand for, `a{b,c}` being `ab` and `ac`; at most one more than `max`, which says that there
 * are too many. Minimatch takes 15 ms to load: it is, for the first pattern that has a brace.
 */
export function expandBraces(pattern: string, max: number): readonly string[] {
  if (!pattern.includes('{')) return [pattern];
  const { braceExpand } = createRequire(import.meta.url)('minimatch') as typeof import('minimatch');
  return braceExpand(pattern, { braceExpandMax: max + 1 });
}
