import { relative, sep } from 'node:path';
import type { OpenEntry, Sandbox } from '../contract/files.js';
import { isToolError, ToolError } from '../errors/tool-error.js';

/** Where is searched, held for as long as that takes, so that no renaming leads anywhere else. */
export interface SearchPlace {
  readonly held: OpenEntry;
  /** Of the sandbox. */
  readonly roots: readonly string[];
  /** From the root down to what is held. */
  readonly components: readonly string[];
  /** What tools call an entry below: the directory's own name, if any, and a slash, go before it. */
  readonly prefix: string;
  /** What tools call the place itself. */
  readonly name: string;
}

/** @throws ToolError `execution_failed` when there is nothing; `sandbox_violation` */
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
