import { dirname } from 'node:path';
import {
  isBoolean,
  isTextList,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { ContainedFiles, Sandbox } from '../contract/files.js';
import { isToolError, ToolError } from '../errors/tool-error.js';
import { entryStat, filePrint, realPath } from '../platform/fs/fs-entry.js';
import { type FileView, openerIn } from '../platform/fs/open-handle.js';
import {
  admit,
  type Containment,
  containIn,
  createContainment,
  type DenyOptions,
  withAbsolutePaths,
} from './containment.js';
import type { Access } from './deny-rules.js';
import { withFailures } from './file-failure.js';
import { guardedFinder } from './find-guarded.js';
import { removeContained, renameContained } from './move-contained.js';
import { assertOneName } from './one-name.js';
import { openContained } from './open-contained.js';
import type { PathRequest } from './parse-request.js';
import { listContained, readContained, statContained, statEntriesContained } from './read-contained.js';
import { examineContained, restoreContained } from './restore-contained.js';
import type { RootSet } from './root-set.js';
import { type HardLinks, isHardLinks, type SandboxOptions } from './sandbox-options.js';
import { createSweeper, sweepDirectory } from './sweep-leftovers.js';
import { walk } from './walk.js';
import { whileBusy } from './while-busy.js';
import { writeAllContained } from './write-all-contained.js';
import { writeContained } from './write-contained.js';

/**
 * Creates the sandbox that keeps file tools inside the roots (D045 to D050). It keeps nothing open between
 * operations.
 * @throws ToolError `config_invalid` for an invalid option, a missing root or an invalid glob
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { cwd, ...normalized } = normalizeOptions('sandbox', options, RULES);
  const sandbox = sandboxOf(createContainment(cwd === undefined ? normalized : { ...normalized, cwd }));
  return { ...sandbox, resolve: (path, access) => asPath(() => sandbox.resolve(path, access)) };
}

/** A name that is too long, or one below a file, is a wrong argument: nothing was executed. */
function asPath(resolve: () => string): string {
  try {
    return resolve();
  } catch (error) {
    if (!isToolError(error, 'execution_failed')) throw error;
    const { message, details } = error;
    throw new ToolError('bad_args', message, { details, cause: error });
  }
}

/** The same for roots and patterns that are already checked. */
export function sandboxIn(rootSet: RootSet, options: DenyOptions): Sandbox {
  return sandboxOf(containIn(rootSet, options));
}

/** The same for another process's view of these roots. */
export function sandboxSeenFrom(view: FileView, rootSet: RootSet, options: DenyOptions): Sandbox {
  return sandboxOf(containIn(rootSet, options, openerIn(view)));
}

const PATTERNS = option<readonly string[]>([], isTextList, 'a list of patterns');

/** The file system decides whether a root or a working directory is usable. */
const RULES: OptionRules<Required<Omit<SandboxOptions, 'cwd'>> & { cwd: string | undefined }> = {
  roots: option<SandboxOptions['roots']>([], Array.isArray, 'a list of directories'),
  hardLinks: option<HardLinks>('allow', isHardLinks, 'one of allow, refuse'),
  cwd: option<string | undefined>(undefined, (value) => typeof value === 'string', 'a directory'),
  deniedPatterns: PATTERNS,
  deniedWritePatterns: PATTERNS,
  allowAbsolute: option(false, isBoolean, 'true or false'),
  includeDefaultDenies: option(true, isBoolean, 'true or false'),
};

export function sandboxOf(containment: Containment): Sandbox {
  const { roots, cwd, allowAbsolute } = containment.rootSet;
  return {
    roots,
    cwd,
    allowAbsolute,
    resolve: (path, access = 'read') => resolveContained(containment, path, access),
    fingerprint: (path) => filePrint(reach(containment, path)),
    files: containedFiles(containment),
    byCanonicalPath: () =>
      allowAbsolute ? sandboxOf(containment) : sandboxOf(withAbsolutePaths(containment)),
    examine: (path) => examineContained(containment, path),
    async restore(files, options = {}) {
      const paths = await whileBusy((abandoned) => restoreContained(containment, files, abandoned, options));
      for (const directory of new Set(paths.map((path) => dirname(path))))
        sweepDirectory(containment, directory);
    },
    sweep: (directory, pid, kept) => sweepDirectory(containment, directory, { pid, kept }),
    deniedPatterns: containment.deniedPatterns,
    hold: (path) => openContained(containment, path),
    rootOf: (path) => containment.rootSet.rootOf(path),
    denied: (path, access) => {
      const { deniedBy, deniedBelow } = containment.deniesCommands;
      return access === 'link' ? deniedBelow(path) : deniedBy(path, access);
    },
    ...guardedFinder(containment),
  };
}

/** All seven steps of D046, also for a path that does not exist yet. */
function resolveContained(containment: Containment, asked: string, purpose: Access | 'delete'): string {
  const access = purpose === 'delete' ? 'write' : purpose;
  const request = admit(containment, asked, access);
  // The short way uses names from this process's own view.
  const isSimple = containment.opener.reach === undefined && leadsNowhereElse(containment, request.path);
  const path = isSimple ? request.path : walkTo(containment, request, purpose);
  if (purpose !== 'delete') {
    assertOneName(containment, request.asked, path, () => entryStat(reach(containment, path)));
  }
  return path;
}

function reach({ opener }: Containment, path: string): string {
  return opener.reach?.(path) ?? path;
}

/** Whether the path leads through no link. If it does not exist, its existing part below the root is examined. */
function leadsNowhereElse({ rootSet }: Containment, path: string): boolean {
  let existing = path;
  for (;;) {
    const real = realPath(existing);
    if (real !== undefined) return real === existing;
    if (!isMissing(existing)) return false;
    existing = dirname(existing);
    if (rootSet.rootOf(existing) === undefined) return false;
  }
}

/** False also if it is not known; the walk then gives the reason. */
function isMissing(path: string): boolean {
  try {
    return entryStat(path) === undefined;
  } catch {
    return false;
  }
}

function walkTo(containment: Containment, request: PathRequest, purpose: Access | 'delete'): string {
  const access = purpose === 'delete' ? 'write' : purpose;
  return withFailures(access === 'write' ? 'write' : 'use', request.asked, () => {
    const followLast = purpose !== 'delete';
    const place = walk(containment, request, { access, followLast, createParents: false });
    place.parent.close();
    return place.path;
  });
}

/** The system calls are synchronous: each takes microseconds, while the thread pool takes about eighty. */
function containedFiles(containment: Containment): ContainedFiles {
  const sweepBeside = createSweeper(containment);
  return {
    async read(path, options = {}) {
      return readContained(containment, path, options).bytes;
    },
    async readPlaced(path, options = {}) {
      return readContained(containment, path, options);
    },
    async write(path, bytes, options) {
      const outcome = await whileBusy(
        (abandonedLock) =>
          writeContained(containment, path, { ...options, bytes, mode: options?.mode, abandonedLock }),
        options?.check,
      );
      sweepBeside([outcome.path]);
      return outcome;
    },
    async writeAll(changes, options) {
      const check = options?.check ?? ((): void => {});
      const outcomes = await whileBusy(
        (abandoned) =>
          writeAllContained(containment, changes, abandoned, { ...options, check, kind: 'write' }),
        check,
      );
      sweepBeside(outcomes.map((outcome) => outcome.path));
      return outcomes;
    },
    async list(path) {
      return listContained(containment, path);
    },
    async stat(path) {
      return statContained(containment, path);
    },
    async statEntries(directory, names) {
      return statEntriesContained(containment, directory, names);
    },
    async remove(path, options = {}) {
      await whileBusy((abandoned) => removeContained(containment, path, options, abandoned), options.check);
    },
    async rename(from, to, options = {}) {
      await whileBusy(
        (abandoned) => renameContained(containment, from, to, options, abandoned),
        options.check,
      );
    },
  };
}
