import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { covers } from '../base/covers.js';
import { realPath } from '../platform/fs/fs-entry.js';
import type { RootSet } from './root-set.js';
import { badPath, outsideRoots } from './violations.js';
import { windowsFlawOf } from './windows-path.js';

/** A parsed path that has not been looked up. */
export interface PathRequest {
  readonly asked: string;
  /** Absolute, without dots, in the canonical root; links are not resolved. */
  readonly path: string;
  /** The outermost root that contains it. */
  readonly root: string;
  /** From the root downward. */
  readonly components: readonly string[];
}

/** Linux's PATH_MAX. Without it, a walk component by component has no limit. */
const MAX_PATH_BYTES = 4096;
// oxlint-disable-next-line no-control-regex -- the pattern searches for control characters
const CONTROLS = /[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

const CACHED_REQUESTS = 4096;

/**
 * The lexical half of D046: steps 1 to 3.
 * @throws ToolError `bad_args` for an invalid path, `sandbox_violation` for `..` and absolute paths.
 */
export function createRequestParser(rootSet: RootSet): (asked: unknown) => PathRequest {
  const known = new Map<string, PathRequest>();
  return (asked) => {
    assertIsString(asked);
    const request = known.get(asked) ?? parseRequest(rootSet, asked);
    // An absolute path may depend on links outside the roots, so only relative paths are cached.
    if (isAbsolute(asked) || known.has(asked)) return request;
    if (known.size >= CACHED_REQUESTS) known.clear();
    known.set(asked, request);
    return request;
  };
}

function parseRequest(rootSet: RootSet, asked: string): PathRequest {
  assertIsPath(asked);
  const components = componentsOf(asked);
  if (components.includes('..')) throw outsideRoots(asked, 'a ".." component is never followed', rootSet);
  if (!isAbsolute(asked)) {
    if (sep === '\\') assertPlainOnWindows(rootSet, asked, components);
    return requestFor(rootSet, asked, join(rootSet.cwd, ...components));
  }
  if (!rootSet.allowAbsolute) throw outsideRoots(asked, 'absolute paths are not allowed here', rootSet);
  return requestFor(rootSet, asked, locateAbsolute(rootSet, asked));
}

/** The components of a path without empty ones and `.`. */
export function componentsOf(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((part) => part !== '' && part !== '.');
}

function assertIsString(asked: unknown): asserts asked is string {
  if (typeof asked !== 'string') throw badPath(asked, 'it is not a string');
}

function assertIsPath(asked: string): void {
  if (asked.trim() === '') throw badPath(asked, 'it is blank');
  if (CONTROLS.test(asked)) throw badPath(asked, 'it holds control characters');
  if (/[\ud800-\udfff]/u.test(asked)) throw badPath(asked, 'it is not well-formed Unicode');
  if (asked.length * 3 > MAX_PATH_BYTES && Buffer.byteLength(asked) > MAX_PATH_BYTES) {
    throw badPath(asked, `it is longer than ${MAX_PATH_BYTES} bytes`);
  }
}

function assertPlainOnWindows(rootSet: RootSet, asked: string, components: readonly string[]): void {
  for (const component of components) {
    const flaw = windowsFlawOf(component);
    if (flaw !== undefined) throw outsideRoots(asked, flaw, rootSet);
  }
}

function requestFor(rootSet: RootSet, asked: string, path: string): PathRequest {
  const root = rootSet.rootOf(path);
  if (root === undefined) {
    throw outsideRoots(asked, 'it lies outside the roots', { roots: rootSet.roots, resolved: path });
  }
  return { asked, path, root, components: componentsOf(path.slice(root.length)) };
}

/** It ends in a slash or in `/.`, so only a directory matches, as in the kernel. */
export function namesDirectory(asked: string): boolean {
  return NAMES_DIRECTORY.test(asked);
}

const NAMES_DIRECTORY = sep === '/' ? /\/\.?$/ : /[\\/]\.?$/;

/** The path below a canonical root for an absolute path that may pass through links outside the roots. */
function locateAbsolute(rootSet: RootSet, asked: string): string {
  const path = resolve(asked);
  if (rootSet.rootOf(path) !== undefined) return path;
  for (const [spelling, root] of rootSet.spellings) {
    if (covers(spelling, path)) return join(root, path.slice(spelling.length));
  }
  // Paths outside are read only to find the intended root; inside, every step is checked again.
  for (let known = path, rest = ''; ; rest = join(basename(known), rest), known = dirname(known)) {
    const real = realPath(known);
    if (real !== undefined) return join(real, rest);
    if (known === dirname(known)) return path;
  }
}
