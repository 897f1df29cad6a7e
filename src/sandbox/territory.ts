import { isAbsolute, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { entryStat, realPath } from '../platform/fs-entry.js';
import { covers } from './covers.js';

/** Where the sandbox reaches: canonical roots, and how else they are written. */
export interface Territory {
  /** Canonical, absolute, as many as were given. */
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly allowAbsolute: boolean;
  /** Roots that lie in no other root, by each absolute spelling that the host used for them. */
  readonly spellings: ReadonlyMap<string, string>;
  /** The outermost root that holds a canonical path. */
  rootOf(path: string): string | undefined;
}

interface TerritoryOptions {
  readonly roots: readonly string[];
  readonly cwd?: string;
  readonly allowAbsolute: boolean;
}

/** @throws ToolError `config_invalid` when a root or the working directory is no directory, or outside (FR-VAL-03). */
export function createTerritory(options: TerritoryOptions): Territory {
  if (!Array.isArray(options.roots) || options.roots.length === 0) {
    throw configInvalid('roots', options.roots, 'at least one root is needed', 'Name a directory');
  }
  const canonical = options.roots.map((root) => canonicalDirectory('roots', root));
  const roots = [...new Set(canonical)];
  const outermost = roots.filter((root) => !roots.some((other) => other !== root && covers(other, root)));
  const rootOf = (path: string) => outermost.find((root) => covers(root, path));
  const spellings = new Map(outermost.map((root) => [root, root]));
  options.roots.forEach((given, index) => {
    const root = canonical[index];
    if (root !== undefined && outermost.includes(root)) spellings.set(resolve(given), root);
  });
  const cwd = options.cwd === undefined ? roots[0] : canonicalDirectory('cwd', options.cwd);
  if (cwd === undefined || rootOf(cwd) === undefined) {
    throw configInvalid('cwd', options.cwd, 'it lies in none of the roots', 'Use a directory inside a root');
  }
  return { roots, cwd, allowAbsolute: options.allowAbsolute, spellings, rootOf };
}

function canonicalDirectory(option: string, path: unknown): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw configInvalid(option, path, 'it is not a path', 'Name a directory');
  }
  const real = realPath(path);
  if (real === undefined)
    throw configInvalid(option, path, 'it does not exist', 'Create it, or name another directory');
  if (!isAbsolute(real) || entryStat(real)?.isDirectory() !== true) {
    throw configInvalid(option, path, 'it is not a directory', 'Name a directory');
  }
  return real;
}

function configInvalid(option: string, value: unknown, why: string, remedy: string): ToolError {
  const shown = JSON.stringify(value) ?? 'undefined';
  return new ToolError('config_invalid', `Cannot build a sandbox: ${option} ${shown}: ${why}. ${remedy}.`, {
    details: { option, value },
  });
}
