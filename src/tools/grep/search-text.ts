import type { ToolContext } from '../../contract/context.js';
import type { TextFound, TextSearch } from '../../contract/search.js';
import type { ToolOutput } from '../../contract/tool.js';
import { fitLines } from '../fit-lines.js';
import { outputLimit } from '../output-limit.js';
import { incompleteMark, incompleteness, resultsWanted, searchScope, searchedPath } from '../search-scope.js';
import type { GrepArgs, OutputMode } from './grep-tool.js';
import { type MatchesShape, writeMatches } from './write-matches.js';

const WANTED_BY = {
  content: 'lines',
  files_with_matches: 'files',
  count: 'counts',
} as const satisfies Record<OutputMode, TextSearch['want']>;

export async function searchText(args: GrepArgs, ctx: ToolContext): Promise<ToolOutput> {
  const maxBytes = outputLimit(ctx);
  const mode = args.output_mode ?? 'files_with_matches';
  const before = args['-B'] ?? args['-C'] ?? 0;
  const after = args['-A'] ?? args['-C'] ?? 0;
  const found = await ctx.search.text({
    ...searchScope(args),
    pattern: args.pattern,
    ignoreCase: args['-i'] ?? false,
    multiline: args.multiline ?? false,
    ...(args.glob === undefined ? {} : { glob: args.glob }),
    ...(args.type === undefined ? {} : { type: args.type }),
    want: WANTED_BY[mode],
    before,
    after,
    maxResults: resultsWanted(args.head_limit),
    maxBytes: Math.max(1, maxBytes),
  });
  const shape = {
    want: WANTED_BY[mode],
    lineNumbers: args['-n'] ?? true,
    hasContext: before + after > 0,
  };
  return writeOutput(found, shape, maxBytes, args);
}

function writeOutput(found: TextFound, shape: MatchesShape, maxBytes: number, args: GrepArgs): ToolOutput {
  const written = writeMatches(found.files, shape);
  const filesIn = (shown: number): number => (shown === 0 ? 0 : (written[shown - 1]?.file ?? 0) + 1);
  const isCut = (shown: number): boolean => found.more || shown < written.length;
  const { text, shown } = fitLines(
    written.map((line) => line.text),
    maxBytes,
    (count) => notice(found, shape.want, count, isCut(count) ? found.totalFiles - filesIn(count) : undefined),
  );
  const truncated = isCut(shown);
  return {
    text,
    truncated,
    metadata: {
      pattern: args.pattern,
      path: searchedPath(args),
      output_mode: args.output_mode ?? 'files_with_matches',
      files: filesIn(shown),
      total_files: found.totalFiles,
      ...(shape.want === 'counts' ? { matches: sum(found.files.map(({ count }) => count)) } : {}),
      ...(shape.want === 'lines' ? { lines: shown } : {}),
      truncated,
      ...incompleteMark(found),
    },
  };
}

function notice(
  found: TextFound,
  want: MatchesShape['want'],
  shown: number,
  filesLeft: number | undefined,
): string | undefined {
  const said = [
    ...(found.totalFiles === 0 ? ['no matches found'] : []),
    ...(filesLeft === undefined ? [] : [truncation(shown, filesLeft, want)]),
    ...incompleteness(found),
  ];
  return said.length === 0 ? undefined : said.join('\n');
}

function truncation(shown: number, filesLeft: number, want: MatchesShape['want']): string {
  const unit = want === 'lines' ? 'lines' : 'files';
  const left = filesLeft === 1 ? '1 more file matches' : `${filesLeft} more files match`;
  const rest = filesLeft > 0 ? left : 'more lines match';
  return `[truncated at ${shown} ${unit}] ${rest}: narrow the search, or raise head_limit.`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
