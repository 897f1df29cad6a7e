import type { CommandChanges, Confinement, TransactionRules } from '../../contract/processes.js';
import {
  type BinaryPath,
  binaryEntry,
  binaryNames,
  toBinary,
  writeMarker,
} from '../../platform/fs/binary-fs.js';
import { setEntryTimes } from '../../platform/fs/placeholder-entry.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { makeOwnDirectory, removeLater } from '../../platform/process/transaction-directory.js';
import { ownIds } from '../../platform/runtime/environment.js';
import { findRepositories } from '../sandbox/git/find-repositories.js';
import { trackedLayer } from '../sandbox/git/tracked-placeholders.js';
import { isWithin } from '../sandbox/mount-holder.js';
import { type CommitRequest, commitTransaction, type TransactionParts } from './commit-transaction.js';
import { holdMasks } from './held-masks.js';
import { type OverlayMount, overlayCommand } from './overlay-mount.js';
import { findOverlaySetup, type OverlaySetup, rootsRefused, whyNot } from './overlay-setup.js';
import { KIND } from './sweep-transactions.js';

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
  /** Bytes on the disk. */
  size(): number;
  /** It has changed nothing so far. */
  isUntouched(): boolean;
  /** Makes real what may be, and says what was changed and what was not. The command and all it started must be dead. */
  commit(request: CommitRequest): Promise<CommandChanges>;
  discard(): void;
  /** To be called when the command has ended, whatever becomes of the changes. */
  release(): void;
}

/** Why there is none. */
export interface NoTransaction {
  readonly reason: string;
}

/** Makes the layers of a command. Never rejects. */
export async function openTransaction(
  confinement: Confinement,
  rules: TransactionRules,
): Promise<Transaction | NoTransaction> {
  const layers = await openLayers(confinement, rules);
  return 'reason' in layers ? layers : toTransaction(layers);
}

/** Makes the layers over the roots. Never rejects. */
export async function openLayers(
  confinement: Confinement,
  rules: TransactionRules,
): Promise<Layers | NoTransaction> {
  const roots = outermost(confinement.roots);
  const setup = await findOverlaySetup(roots, rules.places);
  if ('reason' in setup) return setup;
  const refused = rootsRefused(roots);
  if (refused !== undefined) return { reason: refused };
  try {
    return makeLayers(confinement, rules, setup, roots);
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

function outermost(roots: readonly string[]): readonly string[] {
  return roots.filter((root) => !roots.some((other) => other !== root && isWithin(root, other)));
}

/** The layers of what is kept apart, ready to be mounted. */
export interface Layers extends TransactionParts {
  readonly release: () => void;
  /** They are not used. */
  readonly drop: () => void;
  /** Arguments for bubblewrap. */
  readonly gitMounts: readonly string[];
  readonly git: Readonly<Record<string, string>>;
}

/** @throws Error where a directory cannot be made */
function makeLayers(
  confinement: Confinement,
  rules: TransactionRules,
  setup: OverlaySetup,
  roots: readonly string[],
): Layers | NoTransaction {
  const guarded = confinement.guarded('every');
  if (guarded.incomplete)
    return { reason: 'there is more in the roots than can be looked through for what is hidden' };
  const repositories = findRepositories(guarded.readOnly, confinement.roots);
  if (repositories.some(({ isOutside }) => isOutside)) {
    return { reason: 'the repository of a root lies outside of the roots' };
  }
  const tracked = trackedLayer(repositories, guarded.hidden);
  if (tracked === undefined) return { reason: 'what git tracks of the hidden files cannot be told' };
  const masks = roots.map((root) => holdMasks(setup, root, guarded.hidden, tracked.files));
  const release = (): void => {
    for (const mask of masks) mask.release();
  };
  let directory: string;
  let mounts: readonly OverlayMount[];
  try {
    directory = makeOwnDirectory(setup.place, KIND, ['old', ...roots.flatMap((_, index) => layersOf(index))]);
    mounts = roots.map((root, index) => layerOf(directory, root, index, masks[index]?.path ?? ''));
  } catch (error) {
    release();
    throw error;
  }
  return {
    confinement,
    rules,
    setup,
    directory,
    mounts,
    begunNs: writeMarker(`${directory}/begun`),
    release,
    drop() {
      release();
      removeTree(directory);
    },
    gitMounts: tracked.mounts,
    git: { 'core.checkStat': 'minimal', 'core.trustctime': 'false', ...tracked.env },
  };
}

function toTransaction(layers: Layers): Transaction {
  const { directory, mounts, setup, rules, gitMounts, git, release } = layers;
  const { uid, gid } = ownIds();
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
    size: () => changedBytes(mounts),
    isUntouched: () => mounts.every(({ upper }) => binaryNames(toBinary(upper)).length === 0),
    commit: (request) => commitTransaction(layers, request),
    discard: () => void removeLater(directory),
    release,
  };
}

/** What the changes take, on the disk. */
export function changedBytes(mounts: readonly OverlayMount[]): number {
  return mounts.reduce((sum, { upper }) => sum + sizeOf(toBinary(upper)), 0);
}

function layersOf(index: number): readonly string[] {
  return ['upper', 'work', 'merged'].map((name) => `${index}/${name}`);
}

function layerOf(directory: string, root: string, index: number, masks: string): OverlayMount {
  const at = (name: string): string => `${directory}/${index}/${name}`;
  const entry = binaryEntry(toBinary(root));
  if (entry?.kind !== 'dir') throw new Error(`the root "${root}" is gone`);
  const upper = at('upper');
  // It is what the command sees of the root itself.
  setEntryTimes(toBinary(upper), entry.mode, entry.mtimeNs);
  return { root, masks, upper, work: at('work'), merged: at('merged') };
}

function sizeOf(path: BinaryPath): number {
  const entry = binaryEntry(path);
  if (entry?.kind !== 'dir') return entry?.bytes ?? 0;
  let sum = entry.bytes;
  for (const name of binaryNames(path)) sum += sizeOf(`${path}/${name}`);
  return sum;
}
