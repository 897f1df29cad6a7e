import type { ToolContext } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import type { FileMatches, SearchLine, TextFound, TextSearch } from '../contract/search.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { missingText } from './missing-text.js';
import { fitLines, outputLimit, showPath } from './output-text.js';
import {
  incompleteMark,
  incompleteness,
  requireNoNul,
  resultLimit,
  resultsWanted,
  type SearchScopeArgs,
  searchedPath,
  searchInput,
  searchScope,
} from './search-scope.js';

export interface GrepArgs extends SearchScopeArgs {
  readonly pattern: string;
  readonly glob?: string;
  readonly type?: string;
  readonly output_mode?: OutputMode;
  readonly '-A'?: number;
  readonly '-B'?: number;
  readonly '-C'?: number;
  readonly '-i'?: boolean;
  readonly '-n'?: boolean;
  readonly multiline?: boolean;
  readonly head_limit?: number;
}

const MODES = ['content', 'files_with_matches', 'count'] as const;

export type OutputMode = (typeof MODES)[number];

const MAX_CONTEXT = 500;

/** `grep` (C031): the matches of a regular expression in files, found by ripgrep, sorted by path. */
export function grepTool(): ToolSpec<GrepArgs> {
  return {
    name: 'grep',
    aliases: ['Grep'],
    title: 'Search Files',
    description:
      'Searches the content of files with a regular expression (ripgrep syntax: no look-around, no ' +
      'back-references; write \\{ for a brace that is meant). Leaves out what .gitignore files name, names that ' +
      'begin with a dot, and binary files. Links are not followed.',
    input: INPUT,
    explainArgs: (args) => missingText(INPUT)(args) ?? unknownMode(args),
    category: 'search',
    contained: true,
    idempotent: true,
    cacheable: true,
    touches: ['read'],
    effects: (args) => {
      requireNoNul('pattern', args.pattern);
      requireNoNul('type', args.type);
      return [{ kind: 'read', path: searchedPath(args) }];
    },
    summarize: (args) => `Search ${searchedPath(args)} for ${args.pattern}`,
    execute: searchText,
  };
}

function unknownMode({ output_mode: mode }: JsonObject): string | undefined {
  if (typeof mode !== 'string' || (MODES as readonly string[]).includes(mode)) return undefined;
  return `invalid output_mode ${JSON.stringify(mode)}: expected "content", "files_with_matches" or "count".`;
}

function lines(meaning: string) {
  return { type: 'integer', minimum: 0, maximum: MAX_CONTEXT, description: meaning } as const;
}

const INPUT = searchInput({
  pattern: {
    maxLength: 16_384,
    description: 'The regular expression, for example "function\\s+\\w+" or "log.*Error".',
  },
  path: 'The directory or the file to search.',
  own: {
    glob: {
      type: 'string',
      minLength: 1,
      description: 'Only files that match: "*.ts", "src/**/*.{js,jsx}". With a leading "!" all but these.',
    },
    type: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: 'Only files of this type: ts, js, py, rust, go, … (as in ripgrep --type).',
    },
    output_mode: {
      type: 'string',
      enum: MODES,
      description:
        'content: the matching lines; files_with_matches: only the paths; count: how many lines match in each ' +
        'file. Default: files_with_matches.',
    },
    '-A': lines('Lines to show after each match. Only for content.'),
    '-B': lines('Lines to show before each match. Only for content.'),
    '-C': lines('Lines to show before and after each match. Only for content.'),
    '-i': { type: 'boolean', description: 'Ignore case. Default: false.' },
    '-n': { type: 'boolean', description: 'Show line numbers. Only for content. Default: true.' },
    multiline: {
      type: 'boolean',
      description: 'Let a match span lines, and let . match a line break. Default: false.',
    },
    head_limit: resultLimit('lines (or files, where these are asked for)'),
  },
});

const WANTED_BY = {
  content: 'lines',
  files_with_matches: 'files',
  count: 'counts',
} as const satisfies Record<OutputMode, TextSearch['want']>;

async function searchText(args: GrepArgs, ctx: ToolContext): Promise<ToolOutput> {
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

interface MatchesShape {
  readonly want: 'lines' | 'files' | 'counts';
  readonly lineNumbers: boolean;
  /** Context lines are shown, so gaps between lines are marked. */
  readonly hasContext: boolean;
}

/** One line of output and the index of its file. */
interface WrittenLine {
  readonly text: string;
  readonly file: number;
}

/** Formats results like grep: `path:12:text`, `path-13-text` for context, `--` for skipped lines. */
function writeMatches(files: readonly FileMatches[], shape: MatchesShape): WrittenLine[] {
  return files.flatMap((found, file) => {
    const path = showPath(found.path);
    if (shape.want === 'files') return [{ text: path, file }];
    if (shape.want === 'counts') return [{ text: `${path}:${found.count}`, file }];
    const lines = found.lines.map((line) => ({ text: writeLine(path, line, shape), file }));
    if (found.binary) lines.push({ text: `${path}: binary file matches`, file });
    return shape.hasContext && file > 0 ? [{ text: '--', file }, ...lines] : lines;
  });
}

function writeLine(path: string, line: SearchLine, { lineNumbers }: MatchesShape): string {
  if (line.kind === 'gap') return '--';
  const mark = line.kind === 'match' ? ':' : '-';
  return `${path}${mark}${lineNumbers ? `${line.number}${mark}` : ''}${line.text}`;
}
