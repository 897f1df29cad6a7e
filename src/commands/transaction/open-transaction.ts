import type { CommandChanges } from '../../contract/processes.js';
import { binaryNames, toBinary } from '../../platform/fs/binary-fs.js';
import { removeLater } from '../../platform/process/transaction-directory.js';
import { ownIds } from '../../platform/runtime/environment.js';
import { type CommitRequest, commitTransaction } from './commit-transaction.js';
import {
  changedBytes,
  gitInside,
  type Layers,
  makeLayers,
  type NoTransaction,
  type Survey,
} from './open-layers.js';
import { overlayCommand } from './overlay-mount.js';

/** A command's changes, kept apart until it is decided what becomes of them. */
export interface Transaction {
  readonly directory: string;
  /** Roots that are kept apart, in the order of the descriptors that the command line wants for them. */
  readonly roots: readonly string[];
  /** What stands before the sandbox's own command line. */
  readonly command: readonly string[];
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  /** What git inside has to be told. */
  readonly git: Readonly<Record<string, string>>;
  /** What it may change; more than that, and nothing of it is kept. */
  readonly maxMb: number;
  /** Bytes on the disk; Infinity where that cannot be told. */
  size(when?: 'ended'): number;
  /** It has changed nothing so far. */
  isUntouched(): boolean;
  /** Makes real what may be, and says what was changed and what was not. The command and all it started must be dead. */
  commit(request: CommitRequest): Promise<CommandChanges>;
  discard(): void;
  /** To be called when the command has ended, whatever becomes of the changes. */
  release(): void;
}

/** What is done with the layers, apart from their commit. */
interface LayersUse {
  /** The transaction has ended. @param isUnchanged nothing was changed */
  readonly onEnded?: (isUnchanged: boolean) => void;
  /** Resolves when the overlays are unmounted. Left out: they are, once the command has ended. */
  readonly unmounted?: () => Promise<void>;
}

/** Makes the layers of a command. Never throws. */
export function openTransaction(
  survey: Survey,
  onEnded: (isUnchanged: boolean) => void,
): Transaction | NoTransaction {
  const layers = makeLayers(survey);
  return 'reason' in layers ? layers : toTransaction(survey, layers, { onEnded });
}

export function toTransaction(
  survey: Survey,
  layers: Layers,
  { onEnded, unmounted }: LayersUse = {},
): Transaction {
  const { directory, mounts, setup, rules } = layers;
  const { uid, gid } = ownIds();
  const { gitMounts, git } = gitInside(survey);
  const parts = unmounted === undefined ? layers : { ...layers, unmounted };
  return {
    directory,
    roots: mounts.map(({ root }) => root),
    command: overlayCommand(setup.programs, mounts),
    mounts: [
      ...['--uid', `${uid}`, '--gid', `${gid}`],
      ...mounts.flatMap(({ root, merged }) => ['--bind', merged, root]),
      ...gitMounts,
    ],
    git,
    maxMb: rules.maxMb,
    size: (when) => changedBytes(mounts, when === 'ended'),
    isUntouched: () => mounts.every(({ upper }) => binaryNames(toBinary(upper)).length === 0),
    async commit(request) {
      const changes = await commitTransaction(parts, request);
      onEnded?.(isNothing(changes));
      return changes;
    },
    discard() {
      void removeLater(directory);
      onEnded?.(true);
    },
    release: layers.release,
  };
}

function isNothing({ created, modified, deleted }: CommandChanges): boolean {
  return created.length + modified.length + deleted.length === 0;
}
