import type { CommandChanges } from '../../contract/changes.js';
import type { GuardedPath } from '../../contract/files.js';
import { binaryNames, toBinary } from '../../platform/fs/binary-fs.js';
import { ownIds } from '../../platform/runtime/environment.js';
import type { GuardWatch } from '../sandbox/guard-mounts.js';
import { type CommitRequest, commitTransaction, type TransactionParts } from './commit-transaction.js';
import { whileLocked } from './git-locks.js';
import { watchHidden } from './hidden-watch.js';
import {
  changedBytes,
  GIT_INSIDE,
  type Layers,
  makeLayers,
  type NoTransaction,
  noteBegun,
  type Survey,
} from './open-layers.js';
import { overlayCommand, removeLayersLater } from './overlay-mount.js';

/** The changes of a command, kept separate until they are committed or discarded. */
export interface Transaction {
  readonly directory: string;
  /** The roots in the transaction, in the order of their descriptors. */
  readonly roots: readonly string[];
  /** Arguments before the sandbox's own command line. */
  readonly command: readonly string[];
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  /** Environment for git inside. */
  readonly git: Readonly<Record<string, string>>;
  /** A directory for writes outside the roots. */
  readonly outside: string;
  /** Watches hidden files while the command runs; left out if there are none. */
  readonly watch?: GuardWatch | undefined;
  /** Size limit of the changes. Above it, nothing is kept. */
  readonly maxMb: number;
  /** Bytes on disk while the command runs; Infinity if a path is too long to be examined. */
  size(): number;
  /** Records about the roots while the command runs. If absent: none. */
  readonly watched?: Pick<TransactionParts, 'mounts' | 'begun'>;
  /** It has changed nothing so far. */
  isUntouched(): boolean;
  /**
   * Whether another git process worked in a repository of the roots while the command ran; resolves when that
   * one holds no lock. If absent: unknown.
   */
  metAnotherGit?(): Promise<boolean>;
  /**
   * Commits all changes or none, and returns them. The command and all its processes must be dead.
   * @throws NotCommitted; then discard the transaction
   */
  commit(request: CommitRequest): Promise<CommandChanges>;
  discard(): void;
  /** Call it when the command has ended, whatever happens to the changes. */
  release(): void;
}

/** Creates the layers of a command. Never throws. */
export function openTransaction(
  survey: Survey,
  onEnded: (isUnchanged: boolean) => void,
): Transaction | NoTransaction {
  const layers = makeLayers(survey);
  return 'reason' in layers ? layers : toTransaction(survey, layers, onEnded);
}

/** The mounts of the sandbox around a command. */
export function mountsOf({
  directory,
  mounts,
  setup,
}: Layers): Pick<Transaction, 'roots' | 'command' | 'mounts' | 'git' | 'outside'> {
  const { uid, gid } = ownIds();
  return {
    roots: mounts.map(({ root }) => root),
    command: overlayCommand(setup.programs, mounts),
    mounts: [
      ...['--uid', `${uid}`, '--gid', `${gid}`],
      ...mounts.flatMap(({ root, merged }) => ['--bind', merged, root]),
    ],
    git: GIT_INSIDE,
    outside: outsideIn(directory),
  };
}

/**
 * The layers for a command that is about to begin.
 * @param onEnded the transaction has ended; `isUnchanged`: nothing was changed
 */
export function toTransaction(
  survey: Survey,
  layers: Layers,
  onEnded: (isUnchanged: boolean) => void,
): Transaction {
  const { directory, mounts, rules } = layers;
  const parts = { ...layers, ...noteBegun(survey, layers) };
  const close = (): void => {
    for (const unit of parts.units) unit.close();
  };
  return {
    directory,
    ...mountsOf(layers),
    watch: watchLayers(parts, survey.hidden),
    maxMb: rules.maxMb,
    watched: parts,
    size: () => changedBytes(mounts),
    isUntouched: () => mounts.every(({ upper }) => binaryNames(toBinary(upper)).length === 0),
    async metAnotherGit() {
      if (!parts.units.some((unit) => unit.isDisturbed(parts.begun))) return false;
      await whileLocked(() => parts.units.some((unit) => unit.isLocked(parts.begun)));
      return true;
    },
    async commit(request) {
      const changes = await commitTransaction(parts, request);
      close();
      onEnded(isNothing(changes));
      return changes;
    },
    discard() {
      close();
      void removeLayersLater(mounts, directory);
      onEnded(true);
    },
    release: layers.release,
  };
}

/** A new watch for each command. */
export function watchLayers(
  { mounts, begun }: Pick<TransactionParts, 'mounts' | 'begun'>,
  hidden: readonly GuardedPath[],
): GuardWatch | undefined {
  const roots = mounts.map(({ root }) => root);
  return watchHidden(hidden, roots, Number(begun.begunNs) / 1e6);
}

/** Next to the layers of a root, which are always removed. */
export function outsideIn(directory: string): string {
  return `${directory}/0`;
}

function isNothing({ created, modified, deleted }: CommandChanges): boolean {
  return created.length + modified.length + deleted.length === 0;
}
