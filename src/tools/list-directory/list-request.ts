import { sep } from 'node:path';
import { normalizeOptions, rulesOf } from '../../base/normalize-options.js';
import { type OptionsIn, SETTINGS } from '../../contract/settings.js';
import { ToolError } from '../../errors/tool-error.js';

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

/** `[tools.list_directory]` of the configuration; every option has a default. */
export type ListDirectoryOptions = OptionsIn<'executor.builtins.listDirectory'>;

export type ListSettings = Required<ListDirectoryOptions>;

const RULES = rulesOf<ListSettings>(SETTINGS['executor.builtins.listDirectory']);

/** @throws ToolError `config_invalid` for an unknown option or an invalid value. */
export function listSettings(options: ListDirectoryOptions): ListSettings {
  return normalizeOptions('listDirectory', options, RULES);
}

/** One listing with all options: an argument overrides the configuration, which overrides the default. */
export interface ListRequest {
  /** Normalized. */
  readonly path: string;
  readonly maxDepth: number;
  readonly maxEntries: number;
  readonly hidden: boolean;
  readonly types: Readonly<Record<'file' | 'dir' | 'symlink' | 'other', boolean>>;
}

/**
 * @throws ToolError `bad_args` for a depth without recursion, a value over its maximum, and an empty listing.
 */
export function parseListRequest(args: ListDirectoryArgs, settings: ListSettings): ListRequest {
  const recursive = args.recursive ?? false;
  if (!recursive && args.max_depth !== undefined && args.max_depth !== 1) {
    throw new ToolError(
      'bad_args',
      `max_depth ${args.max_depth} needs recursive: true. Without it the depth is 1.`,
    );
  }
  requireWithin('max_depth', args.max_depth, settings.maxDepth);
  requireWithin('max_entries', args.max_entries, settings.maxEntries);
  const types = {
    file: args.include_files ?? settings.includeFiles,
    dir: args.include_dirs ?? settings.includeDirs,
    symlink: args.include_symlinks ?? settings.includeSymlinks,
    other: args.include_other ?? settings.includeOther,
  };
  if (!types.file && !types.dir && !types.symlink) {
    throw new ToolError(
      'bad_args',
      'include_files, include_dirs and include_symlinks are all false: nothing could be listed. Set one to true.',
    );
  }
  return {
    path: normalizeRequestPath(args.path),
    maxDepth: recursive ? (args.max_depth ?? settings.maxDepth) : 1,
    maxEntries: args.max_entries ?? settings.maxEntries,
    hidden: args.include_hidden ?? settings.includeHidden,
    types,
  };
}

function requireWithin(name: string, value: number | undefined, cap: number): void {
  if (value === undefined || value <= cap) return;
  throw new ToolError('bad_args', `${name} ${value} is over the maximum of ${cap}. Use at most ${cap}.`);
}

/**
 * Trimmed, with `/` as separator, without `.` segments and extra `/`. `..` stays: the sandbox decides whether
 * it leads outside.
 */
export function normalizeRequestPath(path: string): string {
  const trimmed = path.trim();
  const text = sep === '\\' ? trimmed.replaceAll('\\', '/') : trimmed;
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.');
  const relative = segments.join('/');
  if (text.startsWith('/')) return `/${relative}`;
  return relative === '' ? '.' : relative;
}
