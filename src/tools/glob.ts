import type { ToolContext } from '../contract/context.js';
import type { FilesFound } from '../contract/search.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { hasWildcards, isNegated } from '../patterns/glob.js';
import { missingText } from './missing-text.js';
import { fitLines, outputLimit, showPath } from './output-text.js';
import {
  incompleteMark,
  incompleteness,
  resultLimit,
  resultsWanted,
  type SearchScopeArgs,
  searchedPath,
  searchInput,
  searchScope,
} from './search-scope.js';

export interface GlobArgs extends SearchScopeArgs {
  readonly pattern: string;
  readonly newest_first?: boolean;
  readonly limit?: number;
}

/** `glob` (C030): the files whose path matches a pattern, sorted by path (F016). */
export function globTool(): ToolSpec<GlobArgs> {
  return {
    name: 'glob',
    aliases: ['Glob'],
    title: 'Find Files',
    description:
      'Finds files by a pattern over their path, one path a line, sorted by path. * and ? stay within one directory, ' +
      '** stands for any number of directories: "*.ts" is files of the directory itself, "**/*.ts" at any depth. ' +
      'Also {a,b}, [a-z] and @(a|b). Leaves out what .gitignore files name, and names that begin with a dot unless the ' +
      'pattern spells the dot. Links are not followed.',
    input: INPUT,
    explainArgs: missingText(INPUT),
    category: 'search',
    contained: true,
    idempotent: true,
    cacheable: true,
    touches: ['read'],
    effects: (args) => [{ kind: 'read', path: parseGlobRequest(args).path }],
    summarize: (args) => {
      const { path, pattern } = parseGlobRequest(args);
      return `Find ${pattern} in ${path}`;
    },
    execute: findByPattern,
  };
}

const INPUT = searchInput({
  pattern: { description: 'For example "**/*.ts", "src/*.{js,jsx}", "test/**/fixture-?.json".' },
  path: 'The directory that the pattern starts from.',
  own: {
    newest_first: {
      type: 'boolean',
      description: 'Sort by the time of the last change, newest first. Default: false.',
    },
    limit: resultLimit('paths'),
  },
});

async function findByPattern(args: GlobArgs, ctx: ToolContext): Promise<ToolOutput> {
  const request = parseGlobRequest(args);
  const found = await ctx.search.files({
    ...searchScope(args),
    ...request,
    order: args.newest_first === true ? 'newest' : 'path',
    maxResults: resultsWanted(args.limit),
  });
  const maxBytes = outputLimit(ctx);
  const { text, shown } = fitLines(found.paths.map(showPath), maxBytes, (count) => notice(found, count));
  return {
    text,
    truncated: shown < found.total,
    metadata: {
      ...request,
      count: shown,
      total: found.total,
      truncated: shown < found.total,
      ...incompleteMark(found),
    },
  };
}

function notice(found: FilesFound, shown: number): string | undefined {
  const more = found.total - shown;
  const said = [
    ...(found.total === 0 ? ['no matches found'] : []),
    ...(more > 0
      ? [`[truncated at ${shown} matches] ${more} more: narrow the pattern, or raise limit.`]
      : []),
    ...incompleteness(found),
  ];
  return said.length === 0 ? undefined : said.join('\n');
}

/** A directory, and a pattern relative to it. */
interface GlobRequest {
  readonly path: string;
  readonly pattern: string;
}

/**
 * An absolute pattern contains its start directory: the part before the first wildcard.
 * @throws ToolError `bad_args` for a negated pattern
 */
function parseGlobRequest(args: SearchScopeArgs & { readonly pattern: string }): GlobRequest {
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
