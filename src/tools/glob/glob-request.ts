import { ToolError } from '../../errors/tool-error.js';
import { hasWildcards, isNegated } from '../../patterns/glob.js';
import { type SearchScopeArgs, searchedPath } from '../search-scope.js';

/** A directory, and a pattern from there down. */
export interface GlobRequest {
  readonly path: string;
  readonly pattern: string;
}

/**
 * An absolute pattern names the directory it starts from: the part before its first wildcard.
 * @throws ToolError `bad_args` for a pattern that is negated
 */
export function parseGlobRequest(args: SearchScopeArgs & { readonly pattern: string }): GlobRequest {
  const { pattern } = args;
  if (isNegated(pattern)) {
    throw new ToolError(
      'bad_args',
      `Cannot use the pattern ${JSON.stringify(pattern.slice(0, 200))}: it cannot be negated. Say which files are wanted (write \\! for the character itself).`,
    );
  }
  if (!pattern.startsWith('/')) return { path: searchedPath(args), pattern };
  const parts = pattern.split('/').filter((part) => part !== '');
  const firstWild = parts.findIndex(hasWildcards);
  const depth = firstWild === -1 ? Math.max(0, parts.length - 1) : firstWild;
  const end = pattern.endsWith('/') ? '/' : '';
  return { path: `/${parts.slice(0, depth).join('/')}`, pattern: parts.slice(depth).join('/') + end };
}
