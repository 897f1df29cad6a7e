import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { type SearchScopeArgs, resultLimit, searchInput } from '../search-scope.js';
import { TOOL_NAMES } from '../tool-names.js';
import { parseGlobRequest } from './glob-request.js';

export interface GlobArgs extends SearchScopeArgs {
  readonly pattern: string;
  readonly newest_first?: boolean;
  readonly limit?: number;
}

/** `glob` (C030): the files whose path a pattern matches, sorted by path (F016). */
export function globTool(): ToolSpec<GlobArgs> {
  return {
    name: 'glob',
    aliases: TOOL_NAMES.glob,
    title: 'Find Files',
    description:
      'Finds files by a pattern over their path, one path a line, sorted by path. * and ? stay within one directory, ' +
      '** stands for any number of directories: "*.ts" is files of the directory itself, "**/*.ts" at any depth. ' +
      'Also {a,b}, [a-z] and @(a|b). Leaves out what .gitignore files name, and names that begin with a dot unless the ' +
      'pattern spells the dot. Links are not followed.',
    input: INPUT,
    category: 'search',
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

const findByPattern = onFirstUse(async () => (await import('./find-by-pattern.js')).findByPattern);
