import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { probeFiles } from '../probe-files.js';
import { assertNotRedacted } from '../redacted-text.js';
import { TOOL_NAMES } from '../tool-names.js';

export interface EditFileArgs {
  readonly path?: string;
  readonly file_path?: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

export interface EditFileOptions {
  /** Milliseconds since the epoch: when an edit is recorded. Left out: records carry no time. */
  readonly now?: () => number;
}

/** As much as a file that is written whole may hold, twice, and each byte escaped. */
const MAX_ARGS_BYTES = 6 * 2 * 10 * 1024 * 1024 + 64 * 1024;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['old_string', 'new_string'],
  properties: {
    path: {
      type: 'string',
      pattern: '\\S',
      description: 'The file to change, relative to the working directory. Required.',
    },
    file_path: { type: 'string', pattern: '\\S', description: 'Another name for path.' },
    old_string: {
      type: 'string',
      description:
        'The text to replace, exactly as it stands in the file: indentation, line ends and all. It must be there once, ' +
        'unless replace_all is true: take in as many lines around it as make it unique.',
    },
    new_string: {
      type: 'string',
      description: 'The text to put in its place, taken literally; empty deletes.',
    },
    replace_all: { type: 'boolean', description: 'Replace every occurrence. Default: false.' },
  },
} as const;

/**
 * `edit_file` (C028, F023): exact replacement in one file. It never edits by guess: what is not found, or found
 * more than once, is an error that says where to look.
 */
export function editFileTool(options: EditFileOptions = {}): ToolSpec<EditFileArgs> {
  return {
    name: 'edit_file',
    aliases: TOOL_NAMES.edit_file,
    title: 'Edit File',
    description:
      'Replaces a text in a file by another, exactly. Everything else in the file stays as it is, byte by byte.',
    input: INPUT,
    category: 'file',
    maxArgsBytes: MAX_ARGS_BYTES,
    touches: ['write'],
    effects: (args) => {
      const path = checkedPath(args);
      return [{ kind: 'write', path }];
    },
    summarize: (args) => `Edit ${checkedPath(args)}${args.replace_all === true ? ' (every occurrence)' : ''}`,
    execute: async (args, ctx) => editFile({ ...args, path: checkedPath(args) }, ctx, options.now),
    probe: probeFiles,
  };
}

/** @throws ToolError `bad_args` for what could never be an edit */
function checkedPath({ path, file_path: otherName, old_string, new_string }: EditFileArgs): string {
  const named = path ?? otherName;
  if (named === undefined) throw new ToolError('bad_args', 'edit_file needs path: the file to change.');
  if (path !== undefined && otherName !== undefined && path !== otherName) {
    throw new ToolError('bad_args', 'path and file_path name different files. Give path alone.');
  }
  if (old_string === '') {
    throw new ToolError(
      'bad_args',
      "missing or invalid 'old_string' parameter: it is empty. Give the text to replace; write_file creates files.",
    );
  }
  if (old_string === new_string) {
    throw new ToolError('bad_args', 'old_string and new_string are the same: nothing would change.');
  }
  assertNotRedacted('new_string', [new_string]);
  return named;
}

const editFile = onFirstUse(async () => (await import('./edit-file.js')).editFile);
