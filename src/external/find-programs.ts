import { basename, extname, isAbsolute, join, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { directoryEntries, errnoOf, filePrint, realPath, targetOf } from '../platform/fs/fs-entry.js';
import { findForeignWriter, isExecutable } from '../platform/fs/program-file.js';
import { homeDirectory } from '../platform/runtime/environment.js';

/** An executable file of a tools directory. */
export interface FoundProgram {
  readonly name: string;
  /** Absolute, in its directory. */
  readonly path: string;
  /** As configured for its directory. */
  readonly trusted: boolean;
  /** Why it may not be started, or cannot be called; it was not started. */
  readonly refused?: string;
}

/** Resolves directories; `~` is the user's home. @throws ToolError `config_invalid` for an invalid path. */
export function resolveDirectories(given: unknown, label: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((directory) => {
    if (typeof directory !== 'string' || directory === '' || directory.includes('\0')) {
      throw new ToolError('config_invalid', `${label} must be a path or a list of paths.`);
    }
    if (directory === '~') return homeDirectory();
    if (directory.startsWith('~/')) return join(homeDirectory(), directory.slice(2));
    return isAbsolute(directory) ? directory : resolve(directory);
  });
}

/**
 * The executable files in the directories, by name, without hidden files and sub-folders. A missing directory
 * has none. If a name occurs twice, the first directory wins, and the other entry says so.
 * @throws ToolError `config_invalid` for a path that is not a directory, or unreadable.
 */
export function findPrograms(
  directories: readonly string[],
  isTrusted: (directory: string) => boolean,
): readonly FoundProgram[] {
  const known = new Map<string, string | undefined>();
  const byName = new Map<string, FoundProgram>();
  const found: FoundProgram[] = [];
  for (const directory of new Set(directories)) {
    const names = namesIn(directory);
    const weakness = names.length === 0 ? undefined : findForeignWriter(directory, known);
    for (const file of names) {
      const path = join(directory, file);
      if (!isProgram(path)) continue;
      const name = toolName(file);
      const holder = byName.get(name);
      const refused = whyRefused({ name, path, holder }, () => weakness ?? findForeignWriter(path, known));
      const program = {
        name,
        path,
        trusted: isTrusted(directory),
        ...(refused === undefined ? {} : { refused }),
      };
      if (holder === undefined) byName.set(name, program);
      found.push(program);
    }
  }
  return found.sort(byNameAndPath);
}

/** One file in any place. */
export function findProgramAt(path: string): Omit<FoundProgram, 'trusted'> {
  const name = toolName(basename(path));
  const target = targetOf(path);
  if (target === undefined) return { name, path, refused: 'it does not exist' };
  if (!target.isFile()) return { name, path, refused: 'it is not a file' };
  if (!isExecutable(path)) return { name, path, refused: 'it may not be executed: chmod +x it' };
  const refused = whyRefused({ name, path, holder: undefined }, () => findForeignWriter(path));
  return { name, path, ...(refused === undefined ? {} : { refused }) };
}

function namesIn(directory: string): readonly string[] {
  try {
    return directoryEntries(directory)
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('.'))
      .sort();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return [];
    const why = errno === 'ENOTDIR' ? 'it is not a directory' : `it cannot be read (${errno ?? 'unknown'})`;
    throw new ToolError('config_invalid', `Cannot look for tools in "${directory}": ${why}.`, {
      details: { path: directory, errno: errno ?? null },
      cause: error,
    });
  }
}

function isProgram(path: string): boolean {
  return targetOf(path)?.isFile() === true && isExecutable(path);
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The file's name, without its extension if only that makes it a valid tool name (`count.py`). */
function toolName(file: string): string {
  if (NAME.test(file)) return file;
  const stem = basename(file, extname(file));
  return NAME.test(stem) ? stem : file;
}

interface Claim {
  readonly name: string;
  readonly path: string;
  readonly holder: FoundProgram | undefined;
}

function whyRefused({ name, path, holder }: Claim, weakness: () => string | undefined): string | undefined {
  if (!NAME.test(name)) {
    return `its name cannot be called: use 1 to 64 letters, digits, "_" and "-", not ${JSON.stringify(basename(path))}`;
  }
  const why = weakness();
  if (why !== undefined)
    return `${why}: another user could replace what runs. Remove the permission to write, or move it`;
  return holder === undefined ? undefined : `the name "${name}" is taken by "${holder.path}"`;
}

function byNameAndPath(one: FoundProgram, other: FoundProgram): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return 0;
}

/** Identifies the state of a program file without reading it; undefined if it is gone. */
export function programPrint(path: string): string | undefined {
  const real = realPath(path);
  return real === undefined ? undefined : filePrint(real);
}
