import type { SearchScope } from '../contract/search.js';
import { openScratchFile, type ScratchFile } from '../platform/scratch-file.js';
import { createPathSplitter, toText } from './byte-path.js';
import { excludeGlobs } from './exclude-globs.js';
import type { FileFilter } from './file-filter.js';
import { inheritedIgnores } from './inherited-ignores.js';
import { type RipgrepEnd, runRipgrep } from './ripgrep.js';
import type { SearchPlace } from './search-place.js';

export interface FileWalk {
  readonly place: SearchPlace;
  readonly scope: SearchScope;
  readonly filter: FileFilter;
  /** What ripgrep is to do with each file; it names those that count. */
  readonly task: readonly string[];
  /** Patterns for what it may not open. */
  readonly denied: readonly string[];
  readonly signal: AbortSignal;
  /** Takes a file that counts: its path from the place down, as a byte string. */
  readonly take: (path: string) => void;
}

/** Lets ripgrep walk a held directory, side by side on all processors; files come in any order. */
export async function walkFiles(walk: FileWalk): Promise<RipgrepEnd> {
  const { place, filter, take } = walk;
  const split = createPathSplitter((named) => {
    const path = named.startsWith('./') ? named.slice(2) : named;
    const text = toText(path);
    if (filter.admits(text) && !place.held.isDenied(text)) take(path);
  });
  const ignores = walk.scope.includeIgnored ? '' : inheritedIgnores(place.held, place.components);
  const scratch = ignores === '' ? undefined : openScratchFile(ignores);
  try {
    return await runRipgrep({
      args: [...walk.task, ...scopeArguments(walk, scratch), '--', './'],
      cwd: place.held.at,
      inherit: scratch?.descriptor === undefined ? [] : [scratch.descriptor],
      signal: walk.signal,
      onOutput(chunk) {
        split(chunk);
        return undefined;
      },
    });
  } finally {
    scratch?.close();
  }
}

/** Rules inside the root hold with or without a repository; those outside of it, and a person's own, never do. */
const IGNORE_RULES = ['--no-require-git', '--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude'];

function scopeArguments(
  { place, scope, filter, denied }: FileWalk,
  scratch?: ScratchFile,
): readonly string[] {
  const seesHidden = scope.includeHidden || filter.namesHidden;
  const fromTop = place.held.path.split(/[\\/]/).filter((name) => name !== '');
  const excluded = excludeGlobs(denied, { fromTop, fromRoot: place.components });
  return [
    ...(scope.includeIgnored ? ['--no-ignore'] : IGNORE_RULES),
    ...(scratch === undefined ? [] : ['--ignore-file', scratch.path]),
    ...(seesHidden ? ['--hidden'] : []),
    ...(seesHidden && !scope.includeIgnored && !filter.namesGit ? ['--glob', '!.git'] : []),
    ...filter.narrowing,
    ...excluded.flatMap((glob) => ['--iglob', glob]),
    '--no-follow',
    '--path-separator',
    '/',
  ];
}
