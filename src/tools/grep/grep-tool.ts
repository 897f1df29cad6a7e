import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { type SearchScopeArgs, requireNoNul, resultLimit, searchInput, searchedPath } from '../search-scope.js';
import { TOOL_NAMES } from '../tool-names.js';

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

export type OutputMode = 'content' | 'files_with_matches' | 'count';

const MAX_CONTEXT = 500;

/** `grep` (C031): what a regular expression matches in files, as ripgrep finds it, by path. */
export function grepTool(): ToolSpec<GrepArgs> {
  return {
    name: 'grep',
    aliases: TOOL_NAMES.grep,
    title: 'Search Files',
    description:
      'Searches the content of files with a regular expression (ripgrep syntax: no look-around, no ' +
      'back-references; write \\{ for a brace that is meant). Leaves out what .gitignore files name, names that ' +
      'begin with a dot, and binary files. Links are not followed.',
    input: INPUT,
    category: 'search',
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
      enum: ['content', 'files_with_matches', 'count'],
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

const searchText = onFirstUse(async () => (await import('./search-text.js')).searchText);
