import { relative, sep } from 'node:path';
import type { OpenEntry, Sandbox } from '../contract/files.js';
import { isToolError, ToolError } from '../errors/tool-error.js';

/** The searched place. It stays open during the search, so that no rename can redirect it. */
export interface SearchPlace {
  readonly held: OpenEntry;
  /** The roots of the sandbox. */
  readonly roots: readonly string[];
  /** From the root to the open directory. */
  readonly components: readonly string[];
  /** The prefix of entries below for tools: the directory's name, if any, and a slash. */
  readonly prefix: string;
  /** The name of the place for tools. */
  readonly name: string;
}

/** @throws ToolError `execution_failed` if nothing is there; `sandbox_violation` */
export function openPlace(sandbox: Sandbox, path: string): SearchPlace {
  const held = hold(sandbox, path);
  const below = relative(sandbox.cwd, held.path);
  const isBelow = below !== '..' && !below.startsWith(`..${sep}`) && below !== held.path;
  const name = toSlashes(isBelow ? below : held.path);
  return {
    held,
    roots: sandbox.roots,
    components: toSlashes(relative(held.root, held.path))
      .split('/')
      .filter((component) => component !== ''),
    prefix: name === '' || name.endsWith('/') ? name : `${name}/`,
    name: name === '' ? '.' : name,
  };
}

function hold(sandbox: Sandbox, path: string): OpenEntry {
  try {
    return sandbox.hold(path);
  } catch (error) {
    if (!isToolError(error) || error.details.errno !== 'ENOENT') throw error;
    const { errno } = error.details;
    throw new ToolError('execution_failed', `path does not exist: ${path}`, {
      cause: error,
      details: { errno, path },
    });
  }
}

function toSlashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
