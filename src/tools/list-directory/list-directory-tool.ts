import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { TOOL_NAMES } from '../tool-names.js';
import { type ListDirectoryOptions, type ListSettings, listSettings, parseListRequest } from './list-request.js';

export interface ListDirectoryArgs {
  readonly path: string;
  readonly recursive?: boolean;
  readonly max_depth?: number;
  readonly max_entries?: number;
  readonly include_hidden?: boolean;
  readonly include_files?: boolean;
  readonly include_dirs?: boolean;
  readonly include_symlinks?: boolean;
  readonly include_other?: boolean;
}

/**
 * `list_directory` (D074): what a directory holds, as one JSON object that the engine must not cut.
 * @throws ToolError `config_invalid` for an unknown option, and for a value that is none.
 */
export function listDirectoryTool(options: ListDirectoryOptions = {}): ToolSpec<ListDirectoryArgs> {
  const settings = listSettings(options);
  return {
    name: 'list_directory',
    aliases: TOOL_NAMES.list_directory,
    title: 'List Directory',
    description:
      'Lists a directory as JSON: name, path, type, size and modification time of every entry, sorted by path. ' +
      'Set recursive to go into subdirectories. Links are listed, not followed. Entries whose name begins with a ' +
      'dot are left out unless asked for.',
    input: inputSchema(settings),
    category: 'file',
    idempotent: true,
    touches: ['read'],
    effects: (args) => [{ kind: 'read', path: parseListRequest(args, settings).path }],
    summarize: (args) => summary(args, settings),
    execute: async (args, ctx) => listDirectory(parseListRequest(args, settings), ctx),
  };
}

function inputSchema(settings: ListSettings) {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: {
      path: {
        type: 'string',
        pattern: '\\S',
        description:
          'The directory to list, relative to the working directory; "." is the working directory.',
      },
      recursive: { type: 'boolean', description: 'Also list subdirectories. Default: false.' },
      max_depth: {
        type: 'integer',
        minimum: 1,
        description:
          'With recursive: how many levels to list, 1 for the directory itself. ' +
          `Default and maximum: ${settings.maxDepth}.`,
      },
      max_entries: {
        type: 'integer',
        minimum: 1,
        description: `How many entries to list at most. Default and maximum: ${settings.maxEntries}.`,
      },
      include_hidden: flag('Also list entries whose name begins with a dot', settings.includeHidden),
      include_files: flag('List files', settings.includeFiles),
      include_dirs: flag('List directories', settings.includeDirs),
      include_symlinks: flag('List symbolic links', settings.includeSymlinks),
      include_other: flag('List sockets, pipes and devices', settings.includeOther),
    },
  } as const;
}

function flag(meaning: string, preset: boolean) {
  return { type: 'boolean', description: `${meaning}. Default: ${preset}.` } as const;
}

function summary(args: ListDirectoryArgs, settings: ListSettings): string {
  const { path, maxDepth } = parseListRequest(args, settings);
  return maxDepth === 1 ? `List ${path}` : `List ${path} depth ${maxDepth}`;
}

const listDirectory = onFirstUse(async () => (await import('./list-directory.js')).listDirectory);
