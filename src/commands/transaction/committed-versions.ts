import { createHash } from 'node:crypto';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  readBinaryFile,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { knownSandbox } from '../sandbox/find-sandbox.js';
import type { CommittedFile } from '../sandbox/git/committed-versions.js';
import { followedByGit, keyOf } from './followed-by-git.js';
import type { LeftOut, ScanOptions } from './found-changes.js';
import type { OverlayMount, OverlayPrograms } from './overlay-mount.js';

interface CommittedParts {
  readonly mounts: readonly OverlayMount[];
  readonly setup: { readonly programs: OverlayPrograms };
  readonly committed: readonly CommittedFile[];
}

/** The committed versions that a command saw in place of hidden files, for the check of its changes. */
export class CommittedVersions {
  readonly #parts: CommittedParts;
  /** By `keyOf`. */
  readonly #shown: ReadonlyMap<string, CommittedFile>;

  constructor(parts: CommittedParts) {
    this.#parts = parts;
    const shown = new Map<string, CommittedFile>();
    for (const file of parts.committed) {
      const root = parts.mounts.findIndex((mount) => file.at.startsWith(`${mount.root}/`));
      const path = file.at.slice((parts.mounts[root]?.root.length ?? 0) + 1);
      shown.set(keyOf(root, toBinary(path)), file);
    }
    this.#shown = shown;
  }

  /**
   * Whether the command's version equals the version it saw, in content and mode. @param upper the command's
   * version
   */
  isUnchanged(root: number, path: BinaryPath, upper: BinaryPath, entry: BinaryEntry): boolean {
    const shown = this.#shown.size === 0 ? undefined : this.#shown.get(keyOf(root, path));
    return shown !== undefined && (entry.mode & 0o7777) === shown.mode && holds(upper, entry, shown);
  }

  /**
   * Removes from the refusals by deny patterns those where git itself created or removed the file
   * (`followedByGit`).
   * @param leftOut the changes left out so far
   * @returns undefined if there are none
   */
  async following(
    refusal: ScanOptions['refusal'],
    leftOut: readonly LeftOut[],
  ): Promise<ScanOptions['refusal'] | undefined> {
    if (leftOut.every(({ byPattern }) => byPattern !== true)) return undefined;
    const sandbox = knownSandbox();
    if (sandbox?.stands !== true) return undefined;
    const { mounts, setup } = this.#parts;
    const followed = await followedByGit(
      {
        bubblewrap: sandbox.file,
        programs: setup.programs,
        mounts,
        isReplaceable: (root, path) => this.#isReplaceable(root, path),
      },
      leftOut,
    );
    if (followed.size === 0) return undefined;
    return (root, path, change, entry) => {
      const refused = refusal(root, path, change, entry);
      const isByPattern = refused?.byPattern === true;
      return isByPattern && followed.has(keyOf(root.index, path)) ? undefined : refused;
    };
  }

  #isReplaceable(root: number, path: BinaryPath): boolean {
    const lower = `${toBinary(this.#parts.mounts[root]?.root ?? '')}/${path}`;
    const entry = binaryEntry(lower);
    if (entry === undefined) return true;
    const shown = this.#shown.get(keyOf(root, path));
    return shown !== undefined && holds(lower, entry, shown);
  }
}

function holds(path: BinaryPath, { kind, size }: BinaryEntry, shown: CommittedFile): boolean {
  if (kind !== 'file' || shown.sha256 === undefined || size !== shown.size) return false;
  return createHash('sha256').update(readBinaryFile(path)).digest('hex') === shown.sha256;
}
