import { chooseOpener, type Handle, type Opener } from '../platform/fs/open-handle.js';
import { DEFAULT_DENIED_PATTERNS, DEFAULT_DENIED_WRITE_PATTERNS } from './default-denies.js';
import { type Access, createDenyRules, type DenyRules } from './deny-rules.js';
import { HOLDS_IN_DEPENDENCIES, withDependencies } from './dependency-folders.js';
import { createRequestParser, type PathRequest } from './parse-request.js';
import { createRootSet, type RootSet } from './root-set.js';
import type { SandboxOptions } from './sandbox-options.js';
import { TEMPORARY_PATTERN } from './temporary-name.js';
import { deniedByPattern, outsideRoots } from './violations.js';

/** What every contained operation needs: the roots, what is denied in them, and how entries are opened. */
export interface Containment {
  readonly rootSet: RootSet;
  readonly denies: DenyRules;
  /** The same for commands, which package managers are. */
  readonly deniesCommands: DenyRules;
  /** What `denies` was made of, for reading. */
  readonly deniedPatterns: readonly string[];
  readonly opener: Opener;
  readonly parse: (asked: unknown) => PathRequest;
}

/** @throws ToolError `config_invalid` */
export function createContainment(options: SandboxOptions, opener: Opener = chooseOpener()): Containment {
  const rootSet = createRootSet({ ...options, allowAbsolute: options.allowAbsolute ?? false });
  return containIn(rootSet, options, opener);
}

/** What is denied below roots that were checked before. */
export type DenyOptions = Pick<
  SandboxOptions,
  'deniedPatterns' | 'deniedWritePatterns' | 'includeDefaultDenies'
>;

/** @throws ToolError `config_invalid` for a pattern that is no glob */
export function containIn(
  rootSet: RootSet,
  options: DenyOptions,
  opener: Opener = chooseOpener(),
): Containment {
  const withDefaults = options.includeDefaultDenies ?? true;
  const deniedPatterns = [
    TEMPORARY_PATTERN,
    ...(withDefaults ? DEFAULT_DENIED_PATTERNS : []),
    ...(options.deniedPatterns ?? []),
  ];
  const { roots } = rootSet;
  const { deniedPatterns: own = [], deniedWritePatterns: ownWrite = [] } = options;
  const denies = createDenyRules({
    roots,
    denied: deniedPatterns,
    deniedWrite: [...(withDefaults ? DEFAULT_DENIED_WRITE_PATTERNS : []), ...ownWrite],
  });
  const inside = createDenyRules({
    roots,
    denied: [TEMPORARY_PATTERN, ...(withDefaults ? HOLDS_IN_DEPENDENCIES.denied : []), ...own],
    deniedWrite: [...(withDefaults ? HOLDS_IN_DEPENDENCIES.deniedWrite : []), ...ownWrite],
  });
  const deniesCommands = withDependencies(roots, denies, inside);
  return { rootSet, denies, deniesCommands, deniedPatterns, opener, parse: createRequestParser(rootSet) };
}

/** The same, where absolute paths are accepted. */
export function withAbsolutePaths(containment: Containment): Containment {
  const rootSet = { ...containment.rootSet, allowAbsolute: true };
  return { ...containment, rootSet, parse: createRequestParser(rootSet) };
}

/** Parses a path and checks its spelling alone: nothing inside the roots is looked up before this. */
export function admit(containment: Containment, asked: unknown, access: Access): PathRequest {
  const request = containment.parse(asked);
  assertAllowed(containment, request.asked, request.path, access);
  return request;
}

/** @throws ToolError `sandbox_violation` when a pattern denies `path`, which is inside the roots. */
export function assertAllowed(containment: Containment, asked: string, path: string, access: Access): void {
  const pattern = containment.denies.deniedBy(path, access);
  if (pattern !== undefined) throw deniedByPattern(asked, pattern, path);
}

/** Checks an open entry by the name that the system itself has for it, and gives that name. */
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

// A file that was replaced after it was opened still has its old content, under a marked name.
function nameWhereItWas(handle: Handle): string {
  const name = handle.name();
  const mark = ' (deleted)';
  return name.endsWith(mark) && handle.stat().nlink === 0 ? name.slice(0, -mark.length) : name;
}
