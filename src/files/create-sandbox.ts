import { dirname } from 'node:path';
import {
  isBoolean,
  isTextList,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { ContainedFiles, Sandbox } from '../contract/files.js';
import { entryStat, filePrint, realPath } from '../platform/fs/fs-entry.js';
import type { Access } from './deny-rules.js';
import {
  admit,
  createEnclosure,
  type DenyOptions,
  type Enclosure,
  enclose,
  withAbsolutePaths,
} from './enclosure.js';
import { withFailures } from './file-failure.js';
import { guardedFinder } from './find-guarded.js';
import { holdContained } from './hold-contained.js';
import { removeContained, renameContained } from './move-contained.js';
import { assertOneName } from './one-name.js';
import type { PathRequest } from './parse-request.js';
import { listContained, readContained, statContained, statEntriesContained } from './read-contained.js';
import { examineContained, restoreContained } from './restore-contained.js';
import { type HardLinks, isHardLinks, type SandboxOptions } from './sandbox-options.js';
import { createSweeper, sweepDirectory } from './sweep-leftovers.js';
import type { Territory } from './territory.js';
import { walk } from './walk.js';
import { whileBusy } from './while-busy.js';
import { writeAllContained } from './write-all-contained.js';
import { writeContained } from './write-contained.js';

/**
 * The wall around the file tools (D045 to D050). It holds nothing open between operations.
 * @throws ToolError `config_invalid` for a wrong option, a root that is missing and a pattern that is no glob
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { cwd, ...settled } = normalizeOptions('sandbox', options, RULES);
  return sandboxOf(createEnclosure(cwd === undefined ? settled : { ...settled, cwd }));
}

/** The same in a territory that was settled before, with patterns that were looked at then. */
export function sandboxIn(territory: Territory, options: DenyOptions): Sandbox {
  return sandboxOf(enclose(territory, options));
}

const PATTERNS = option<readonly string[]>([], isTextList, 'a list of patterns');

/** What a root or a working directory is worth, the file system says. */
const RULES: OptionRules<Required<Omit<SandboxOptions, 'cwd'>> & { cwd: string | undefined }> = {
  roots: option<SandboxOptions['roots']>([], Array.isArray, 'a list of directories'),
  hardLinks: option<HardLinks>('allow', isHardLinks, 'one of allow, refuse'),
  cwd: option<string | undefined>(undefined, (value) => typeof value === 'string', 'a directory'),
  deniedPatterns: PATTERNS,
  deniedWritePatterns: PATTERNS,
  allowAbsolute: option(false, isBoolean, 'true or false'),
  includeDefaultDenies: option(true, isBoolean, 'true or false'),
};

export function sandboxOf(enclosure: Enclosure): Sandbox {
  const { roots, cwd, allowAbsolute } = enclosure.territory;
  return {
    roots,
    cwd,
    allowAbsolute,
    resolve: (path, access = 'read') => resolveContained(enclosure, path, access),
    fingerprint: filePrint,
    files: containedFiles(enclosure),
    byCanonicalPath: () => (allowAbsolute ? sandboxOf(enclosure) : sandboxOf(withAbsolutePaths(enclosure))),
    examine: (path) => examineContained(enclosure, path),
    async restore(files, options = {}) {
      const paths = await whileBusy((abandoned) => restoreContained(enclosure, files, abandoned, options));
      for (const directory of new Set(paths.map((path) => dirname(path))))
        sweepDirectory(enclosure, directory);
    },
    sweep: (directory, pid, kept) => sweepDirectory(enclosure, directory, { pid, kept }),
    deniedPatterns: enclosure.deniedPatterns,
    hold: (path) => holdContained(enclosure, path),
    guarded: guardedFinder(enclosure),
  };
}

/** D046, all seven steps; also for what does not exist yet. */
function resolveContained(enclosure: Enclosure, asked: string, purpose: Access | 'delete'): string {
  const access = purpose === 'delete' ? 'write' : purpose;
  const request = admit(enclosure, asked, access);
  const path = leadsNowhereElse(request.path, access) ? request.path : walkTo(enclosure, request, purpose);
  if (purpose !== 'delete') assertOneName(enclosure, request.asked, path, () => entryStat(path));
  return path;
}

/** No link is on the way. Of what is to be written, often only the directory is there. */
function leadsNowhereElse(path: string, access: Access): boolean {
  if (access === 'read' || !isMissing(path)) return realPath(path) === path;
  const directory = dirname(path);
  return directory !== path && realPath(directory) === directory;
}

/** False also where it cannot be told: the walk says why. */
function isMissing(path: string): boolean {
  try {
    return entryStat(path) === undefined;
  } catch {
    return false;
  }
}

function walkTo(enclosure: Enclosure, request: PathRequest, purpose: Access | 'delete'): string {
  const access = purpose === 'delete' ? 'write' : purpose;
  return withFailures(access === 'write' ? 'write' : 'use', request.asked, () => {
    const followLast = purpose !== 'delete';
    const place = walk(enclosure, request, { access, followLast, createParents: false });
    place.parent.close();
    return place.path;
  });
}

/** The system calls are synchronous: each takes microseconds, a way over the thread pool some eighty. */
function containedFiles(enclosure: Enclosure): ContainedFiles {
  const sweepBeside = createSweeper(enclosure);
  return {
    async read(path, options = {}) {
      return readContained(enclosure, path, options).bytes;
    },
    async readPlaced(path, options = {}) {
      return readContained(enclosure, path, options);
    },
    async write(path, bytes, options) {
      const outcome = await whileBusy(
        (abandonedLock) =>
          writeContained(enclosure, path, { ...options, bytes, mode: options?.mode, abandonedLock }),
        options?.check,
      );
      sweepBeside([outcome.path]);
      return outcome;
    },
    async writeAll(changes, options) {
      const check = options?.check ?? ((): void => {});
      const outcomes = await whileBusy(
        (abandoned) => writeAllContained(enclosure, changes, abandoned, { ...options, check, kind: 'write' }),
        check,
      );
      sweepBeside(outcomes.map((outcome) => outcome.path));
      return outcomes;
    },
    async list(path) {
      return listContained(enclosure, path);
    },
    async stat(path) {
      return statContained(enclosure, path);
    },
    async statEntries(directory, names) {
      return statEntriesContained(enclosure, directory, names);
    },
    async remove(path, options = {}) {
      await whileBusy((abandoned) => removeContained(enclosure, path, options, abandoned), options.check);
    },
    async rename(from, to, options = {}) {
      await whileBusy((abandoned) => renameContained(enclosure, from, to, options, abandoned), options.check);
    },
  };
}
