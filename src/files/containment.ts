import { chooseOpener, type Handle, type Opener } from '../platform/fs/open-handle.js';
import { DEFAULT_DENIED_PATTERNS, DEFAULT_DENIED_WRITE_PATTERNS } from './default-denies.js';
import { type Access, createDenyRules, type DenyRules } from './deny-rules.js';
import { HOLDS_IN_DEPENDENCIES, withDependencies } from './dependency-folders.js';
import { createRequestParser, type PathRequest } from './parse-request.js';
import { createRootSet, type RootSet } from './root-set.js';
import type { SandboxOptions } from './sandbox-options.js';
import { TEMPORARY_PATTERN } from './temporary-name.js';
import { deniedByPattern, outsideRoots } from './violations.js';

/** The data of every contained operation: the roots, their deny rules, and the way to open entries. */
export interface Containment {
  readonly rootSet: RootSet;
  readonly denies: DenyRules;
  /** The deny rules for commands, which include package managers. */
  readonly deniesCommands: DenyRules;
  /** The read patterns of `denies`. */
  readonly deniedPatterns: readonly string[];
  readonly opener: Opener;
  readonly parse: (asked: unknown) => PathRequest;
}

/** @throws ToolError `config_invalid` */
export function createContainment(options: SandboxOptions, opener: Opener = chooseOpener()): Containment {
  const rootSet = createRootSet({ ...options, allowAbsolute: options.allowAbsolute ?? false });
  return containIn(rootSet, options, opener);
}

/** Deny options for roots that are already checked. */
export type DenyOptions = Pick<
  SandboxOptions,
  'deniedPatterns' | 'deniedWritePatterns' | 'includeDefaultDenies'
>;

/** @throws ToolError `config_invalid` for an invalid glob */
export function containIn(
  rootSet: RootSet,
  options: DenyOptions,
  opener: Opener = chooseOpener(),
): Containment {
  const withDefaults = options.includeDefaultDenies ?? true;
  const { deniedPatterns: own = [], deniedWritePatterns: ownWrite = [] } = options;
  const { roots } = rootSet;
  const defaults = [TEMPORARY_PATTERN, ...(withDefaults ? DEFAULT_DENIED_PATTERNS : [])];
  const denies = createDenyRules({
    roots,
    denied: { builtin: defaults, given: own },
    deniedWrite: { builtin: withDefaults ? DEFAULT_DENIED_WRITE_PATTERNS : [], given: ownWrite },
  });
  const inside = createDenyRules({
    roots,
    denied: {
      builtin: [TEMPORARY_PATTERN, ...(withDefaults ? HOLDS_IN_DEPENDENCIES.denied : [])],
      given: own,
    },
    deniedWrite: { builtin: withDefaults ? HOLDS_IN_DEPENDENCIES.deniedWrite : [], given: ownWrite },
  });
  const deniedPatterns = [...defaults, ...own];
  const deniesCommands = withDependencies(roots, denies, inside);
  return { rootSet, denies, deniesCommands, deniedPatterns, opener, parse: createRequestParser(rootSet) };
}

/** The same containment with absolute paths accepted. */
export function withAbsolutePaths(containment: Containment): Containment {
  const rootSet = { ...containment.rootSet, allowAbsolute: true };
  return { ...containment, rootSet, parse: createRequestParser(rootSet) };
}

/** Parses a path and checks only its spelling. No look-up inside the roots happens before this. */
export function admit(containment: Containment, asked: unknown, access: Access): PathRequest {
  const request = containment.parse(asked);
  assertAllowed(containment, request.asked, request.path, access);
  return request;
}

/** @throws ToolError `sandbox_violation` if a pattern denies `path`, which is inside the roots. */
export function assertAllowed(containment: Containment, asked: string, path: string, access: Access): void {
  const pattern = containment.denies.deniedBy(path, access);
  if (pattern !== undefined) throw deniedByPattern(asked, pattern, path);
}

/** Checks an open entry by the kernel's own name for it, and returns that name. */
export function assertOpenInside(
  containment: Containment,
  asked: string,
  handle: Handle,
  access: Access,
): string {
  const name = nameWhereItWas(handle);
  if (containment.rootSet.rootOf(name) === undefined) {
    throw outsideRoots(asked, 'it was moved out of the roots', containment.rootSet);
  }
  assertAllowed(containment, asked, name, access);
  return name;
}

// A file that was replaced after opening keeps its content under a marked name.
function nameWhereItWas(handle: Handle): string {
  const name = handle.name();
  const mark = ' (deleted)';
  return name.endsWith(mark) && handle.stat().nlink === 0 ? name.slice(0, -mark.length) : name;
}
