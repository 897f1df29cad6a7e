import { isAbsolute, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { ToolError } from '../errors/tool-error.js';
import { entryStat, realPath } from '../platform/fs/fs-entry.js';
import { type HardLinks, isHardLinks, type SandboxRoot } from './sandbox-options.js';

/** The canonical roots and their other spellings. */
export interface RootSet {
  /** Canonical and absolute, in the given order. */
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly allowAbsolute: boolean;
  /** Roots that lie in no other root, by each absolute spelling that the host used. */
  readonly spellings: ReadonlyMap<string, string>;
  /** The outermost root that contains a canonical path. */
  rootOf(path: string): string | undefined;
  /** The innermost root that contains a canonical path, if it refuses files with several names. */
  refusingHardLinks(path: string): string | undefined;
}

interface RootSetOptions {
  readonly roots: readonly (string | SandboxRoot)[];
  readonly cwd?: string;
  readonly allowAbsolute: boolean;
  readonly hardLinks?: HardLinks;
}

/**
 * @throws ToolError `config_invalid` if a root or the working directory is not a directory, or is outside
 * (D045).
 */
export function createRootSet(options: RootSetOptions): RootSet {
  if (!Array.isArray(options.roots) || options.roots.length === 0) {
    throw configInvalid('roots', options.roots, 'at least one root is needed', 'Name a directory');
  }
  const given = options.roots.map((root) => normalizeRoot(root, options.hardLinks ?? 'allow'));
  const canonical = given.map(({ path }) => canonicalDirectory('roots', path));
  const roots = [...new Set(canonical)];
  const outermost = roots.filter((root) => !roots.some((other) => other !== root && covers(other, root)));
  const rootOf = (path: string) => outermost.find((root) => covers(root, path));
  const spellings = new Map(outermost.map((root) => [root, root]));
  given.forEach(({ path }, index) => {
    const root = canonical[index];
    if (root !== undefined && outermost.includes(root)) spellings.set(resolve(path), root);
  });
  const cwd = options.cwd === undefined ? roots[0] : canonicalDirectory('cwd', options.cwd);
  if (cwd === undefined || rootOf(cwd) === undefined) {
    throw configInvalid('cwd', options.cwd, 'it lies in none of the roots', 'Use a directory inside a root');
  }
  const refusing = new Set(canonical.filter((_, index) => given[index]?.hardLinks === 'refuse'));
  const innermostFirst = refusing.size === 0 ? [] : roots.toSorted((a, b) => b.length - a.length);
  const refusingHardLinks = (path: string): string | undefined => {
    const root = innermostFirst.find((one) => covers(one, path));
    return root !== undefined && refusing.has(root) ? root : undefined;
  };
  return { roots, cwd, allowAbsolute: options.allowAbsolute, spellings, rootOf, refusingHardLinks };
}

function normalizeRoot(root: unknown, hardLinks: HardLinks): Required<SandboxRoot> {
  const {
    path,
    hardLinks: own = hardLinks,
    ...rest
  }: Record<string, unknown> = typeof root === 'object' && root !== null ? { ...root } : { path: root };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw configInvalid(
      'roots',
      root,
      `it has no setting ${JSON.stringify(unknown)}`,
      'Say path and hardLinks',
    );
  }
  if (!isHardLinks(own)) {
    throw configInvalid('roots', root, 'its hardLinks is neither "allow" nor "refuse"', 'Say one of them');
  }
  // The path is checked when it is made canonical.
  return { path: path as string, hardLinks: own };
}

function canonicalDirectory(option: string, path: unknown): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw configInvalid(option, path, 'it is not a path', 'Name a directory');
  }
  const real = realPath(path);
  if (real === undefined)
    throw configInvalid(option, path, 'it does not exist', 'Create it, or name another directory');
  // The path is text here, in which other bytes are lost.
  if (real.includes('\ufffd') && entryStat(real) === undefined) {
    throw configInvalid(option, path, 'its path is not UTF-8', 'Rename the directory, or name another one');
  }
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
