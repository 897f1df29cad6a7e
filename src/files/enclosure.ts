import { openPinner, type Pin, type Pinner } from '../platform/fs/pin.js';
import { DEFAULT_DENIED_PATTERNS, DEFAULT_DENIED_WRITE_PATTERNS } from './default-denies.js';
import { type Access, createDenyRules, type DenyRules } from './deny-rules.js';
import { createRequestParser, type PathRequest } from './parse-request.js';
import type { SandboxOptions } from './sandbox-options.js';
import { TEMPORARY_PATTERN } from './temporary-name.js';
import { createTerritory, type Territory } from './territory.js';
import { deniedByPattern, outsideRoots } from './violations.js';

/** What every contained operation needs: where it may reach, what is denied there, and how things are held. */
export interface Enclosure {
  readonly territory: Territory;
  readonly denies: DenyRules;
  /** What `denies` was made of, for reading. */
  readonly deniedPatterns: readonly string[];
  readonly pinner: Pinner;
  readonly parse: (asked: unknown) => PathRequest;
}

/** @throws ToolError `config_invalid` */
export function createEnclosure(options: SandboxOptions, pinner: Pinner = openPinner()): Enclosure {
  const territory = createTerritory({ ...options, allowAbsolute: options.allowAbsolute ?? false });
  return enclose(territory, options, pinner);
}

/** What is denied in a territory, for those who have settled it before. */
export type DenyOptions = Pick<
  SandboxOptions,
  'deniedPatterns' | 'deniedWritePatterns' | 'includeDefaultDenies'
>;

/** @throws ToolError `config_invalid` for a pattern that is no glob */
export function enclose(
  territory: Territory,
  options: DenyOptions,
  pinner: Pinner = openPinner(),
): Enclosure {
  const withDefaults = options.includeDefaultDenies ?? true;
  const deniedPatterns = [
    TEMPORARY_PATTERN,
    ...(withDefaults ? DEFAULT_DENIED_PATTERNS : []),
    ...(options.deniedPatterns ?? []),
  ];
  const denies = createDenyRules({
    roots: territory.roots,
    denied: deniedPatterns,
    deniedWrite: [
      ...(withDefaults ? DEFAULT_DENIED_WRITE_PATTERNS : []),
      ...(options.deniedWritePatterns ?? []),
    ],
  });
  return { territory, denies, deniedPatterns, pinner, parse: createRequestParser(territory) };
}

/** The same, for who may name files absolutely. */
export function withAbsolutePaths(enclosure: Enclosure): Enclosure {
  const territory = { ...enclosure.territory, allowAbsolute: true };
  return { ...enclosure, territory, parse: createRequestParser(territory) };
}

/** Reads a path and judges it by its spelling alone: nothing inside the roots is looked up before this. */
export function admit(enclosure: Enclosure, asked: unknown, access: Access): PathRequest {
  const request = enclosure.parse(asked);
  assertAllowed(enclosure, request.asked, request.path, access);
  return request;
}

/** @throws ToolError `sandbox_violation` when a pattern denies `path`, which is inside the roots. */
export function assertAllowed(enclosure: Enclosure, asked: string, path: string, access: Access): void {
  const pattern = enclosure.denies.deniedBy(path, access);
  if (pattern !== undefined) throw deniedByPattern(asked, pattern, path);
}

/** Judges what is held by the name that the system itself has for it, and gives that name. */
export function assertHeldInside(enclosure: Enclosure, asked: string, pin: Pin, access: Access): string {
  const name = nameWhereItWas(pin);
  if (enclosure.territory.rootOf(name) === undefined) {
    throw outsideRoots(asked, 'it was moved out of the roots', enclosure.territory);
  }
  assertAllowed(enclosure, asked, name, access);
  return name;
}

// A file that was replaced after it was pinned still has its old content, under a marked name.
function nameWhereItWas(pin: Pin): string {
  const name = pin.name();
  const mark = ' (deleted)';
  return name.endsWith(mark) && pin.stat().nlink === 0 ? name.slice(0, -mark.length) : name;
}
