import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput, ToolSpec } from '../../contract/tool.js';
import { canonicalPath } from '../files-read.js';
import { outputLimit } from '../output-text.js';
import {
  type ListDirectoryArgs,
  type ListDirectoryOptions,
  type ListRequest,
  type ListSettings,
  listSettings,
  parseListRequest,
} from './list-request.js';
import { walkDirectory } from './walk-directory.js';
import { writeListing } from './write-listing.js';

/**
 * `list_directory` (D074): the entries of a directory as one JSON object that is never cut.
 * @throws ToolError `config_invalid` for an unknown option or an invalid value.
 */
export function listDirectoryTool(options: ListDirectoryOptions = {}): ToolSpec<ListDirectoryArgs> {
  const settings = listSettings(options);
  return {
    name: 'list_directory',
    title: 'List Directory',
    description:
      'Lists a directory as JSON: name, path, type, size and modification time of every entry, sorted by path. ' +
      'Set recursive to go into subdirectories. Links are listed, not followed. Entries whose name begins with a ' +
      'dot are left out unless asked for.',
    input: inputSchema(settings),
    category: 'file',
    contained: true,
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

async function listDirectory(request: ListRequest, ctx: ToolContext): Promise<ToolOutput> {
  const walk = await walkDirectory(request, ctx);
  const maxBytes = outputLimit(ctx);
  const listing = writeListing(request, walk, maxBytes);
  if (listing === undefined) {
    // Not cut either: half of this sentence would not explain the problem.
    const message = `list_directory failed: output budget too small: ${maxBytes} bytes cannot hold even an empty listing`;
    return { text: '', truncatable: false, error: { code: 'execution_failed', message } };
  }
  return {
    text: listing.text,
    truncatable: false,
    truncated: listing.truncatedReason !== null,
    metadata: {
      path: canonicalPath(ctx, request.path),
      returned: listing.returned,
      truncated: listing.truncatedReason !== null,
      truncated_reason: listing.truncatedReason,
    },
  };
}
