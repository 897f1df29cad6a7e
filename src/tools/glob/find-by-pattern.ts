import type { ToolContext } from '../../contract/context.js';
import type { FilesFound } from '../../contract/search.js';
import type { ToolOutput } from '../../contract/tool.js';
import { fitLines } from '../fit-lines.js';
import { outputLimit } from '../output-limit.js';
import { incompleteMark, incompleteness, resultsWanted, searchScope } from '../search-scope.js';
import { showPath } from '../show-path.js';
import { parseGlobRequest } from './glob-request.js';
import type { GlobArgs } from './glob-tool.js';

export async function findByPattern(args: GlobArgs, ctx: ToolContext): Promise<ToolOutput> {
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
