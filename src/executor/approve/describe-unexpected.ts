import type { ChangedEntry, Unexpected } from '../../contract/changes.js';

/**
 * Describes in one sentence, for people and models, which changes went beyond the allowed ones and why each
 * needs a question.
 */
export function describeUnexpected(entries: readonly Pick<ChangedEntry, 'path' | 'unexpected'>[]): string {
  const parts = ORDER.flatMap((why) => {
    const paths = entries.filter(({ unexpected }) => unexpected === why).map(({ path }) => path);
    return paths.length === 0 ? [] : [WORDS[why](listOf(paths), paths.length === 1)];
  });
  return `it ${parts.join(', and ')}`;
}

const ORDER: readonly Unexpected[] = ['runs_later', 'removed', 'not_allowed'];

const WORDS: Readonly<Record<Unexpected, (paths: string, isOne: boolean) => string>> = {
  runs_later: (paths, isOne) =>
    `changed ${paths}, which ${isOne ? 'runs' : 'run'} later by ${isOne ? 'itself' : 'themselves'}`,
  removed: (paths) => `removed ${paths}`,
  not_allowed: (paths) => `changed ${paths}, which the rule that allows it does not name`,
};

/** Lists as many paths as fit in a sentence. */
function listOf(paths: readonly string[]): string {
  const named = paths.slice(0, 3).map((path) => JSON.stringify(path));
  const more = paths.length - named.length;
  return more === 0 ? named.join(', ') : `${named.join(', ')} and ${more} more`;
}
