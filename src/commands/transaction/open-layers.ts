import type { GuardedPath } from '../../contract/files.js';
import type { Confinement, TransactionRules } from '../../contract/processes.js';
import {
  type BinaryPath,
  binaryEntry,
  binaryNames,
  setBinaryMode,
  toBinary,
  writeMarker,
} from '../../platform/fs/binary-fs.js';
import { setEntryTimes } from '../../platform/fs/placeholder-entry.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { makeOwnDirectory } from '../../platform/process/transaction-directory.js';
import { findRepositories } from '../sandbox/git/find-repositories.js';
import { type TrackedLayer, trackedLayer } from '../sandbox/git/tracked-placeholders.js';
import { isWithin } from '../sandbox/mount-holder.js';
import { rootIdentity, type TransactionParts } from './commit-transaction.js';
import { holdMasks } from './held-masks.js';
import type { OverlayMount } from './overlay-mount.js';
import { findOverlaySetup, type OverlaySetup, rootsRefused, whyNot } from './overlay-setup.js';
import { finishTransactions, KIND } from './sweep-transactions.js';

/** Why there is none. */
export interface NoTransaction {
  readonly reason: string;
}

/** The layers of what is kept apart, ready to be mounted. */
export interface Layers extends TransactionParts {
  readonly release: () => void;
  /** They are not used. */
  readonly drop: () => void;
}

/** Makes the layers over the roots. Never rejects. */
export async function openLayers(
  confinement: Confinement,
  rules: TransactionRules,
): Promise<(Layers & GitInside) | NoTransaction> {
  const survey = await surveyRoots(confinement, rules);
  if ('reason' in survey) return survey;
  const layers = makeLayers(survey);
  return 'reason' in layers ? layers : { ...layers, ...gitInside(survey) };
}

/** What has to be known of the roots before a command is kept apart from them: it may be otherwise for the next. */
export interface Survey {
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly roots: readonly string[];
  readonly setup: OverlaySetup;
  readonly hidden: readonly GuardedPath[];
  readonly tracked: TrackedLayer;
}

/** Never rejects. */
export async function surveyRoots(
  confinement: Confinement,
  rules: TransactionRules,
): Promise<Survey | NoTransaction> {
  finishTransactions();
  const roots = outermost(confinement.roots);
  const setup = await findOverlaySetup(roots, rules.places);
  if ('reason' in setup) return setup;
  const refused = rootsRefused(roots);
  if (refused !== undefined) return { reason: refused };
  try {
    return lookInto({ confinement, rules, roots, setup });
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

function outermost(roots: readonly string[]): readonly string[] {
  return roots.filter((root) => !roots.some((other) => other !== root && isWithin(root, other)));
}

function lookInto(known: Omit<Survey, 'hidden' | 'tracked'>): Survey | NoTransaction {
  const { confinement } = known;
  const guarded = confinement.guarded('every');
  if (guarded.incomplete)
    return { reason: 'there is more in the roots than can be looked through for what is hidden' };
  const repositories = findRepositories(guarded.readOnly, confinement.roots);
  if (repositories.some(({ isOutside }) => isOutside)) {
    return { reason: 'the repository of a root lies outside of the roots' };
  }
  const tracked = trackedLayer(repositories, guarded.hidden, known.rules.isHidden);
  if (tracked === undefined) return { reason: 'what git tracks of the hidden files cannot be told' };
  return { ...known, hidden: tracked.hidden, tracked };
}

/** How git works beside what is hidden. */
export interface GitInside {
  /** Arguments for bubblewrap. */
  readonly gitMounts: readonly string[];
  readonly git: Readonly<Record<string, string>>;
}

export function gitInside({ tracked }: Survey): GitInside {
  const git = { 'core.checkStat': 'minimal', 'core.trustctime': 'false', ...tracked.env };
  return { gitMounts: tracked.mounts, git };
}

export function makeLayers(survey: Survey): Layers | NoTransaction {
  try {
    return makeDirectories(survey);
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

/** @throws Error where a directory cannot be made */
function makeDirectories({ confinement, rules, setup, roots, hidden, tracked }: Survey): Layers {
  const masks = roots.map((root) => holdMasks(setup, root, hidden, tracked.files));
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
    identities: roots.map(rootIdentity),
    begunNs: markBegun(directory),
    release,
    drop() {
      release();
      removeTree(directory);
    },
  };
}

export function markBegun(directory: string): bigint {
  return writeMarker(`${directory}/begun`);
}

function layersOf(index: number): readonly string[] {
  return ['upper', 'work', 'merged'].map((name) => `${index}/${name}`);
}

function layerOf(directory: string, root: string, index: number, masks: string): OverlayMount {
  const at = (name: string): string => `${directory}/${index}/${name}`;
  const upper = at('upper');
  showRootOn(upper, root);
  return { root, masks, upper, work: at('work'), merged: at('merged') };
}

/** What the command sees of the root itself is the directory of its changes. */
export function showRootOn(upper: string, root: string): void {
  const entry = binaryEntry(toBinary(root));
  if (entry?.kind !== 'dir') throw new Error(`the root "${root}" is gone`);
  setEntryTimes(toBinary(upper), entry.mode, entry.mtimeNs);
}

/**
 * What the changes take, on the disk, or will take where they are copied to another one: holes are filled there.
 * Infinity where there is a path in them that is too long to be looked at.
 * @param isEnded the command has: directories that it has closed are opened for a look
 */
export function changedBytes(mounts: readonly OverlayMount[], isEnded = false): number {
  return mounts.reduce((sum, { root, upper }) => {
    const isNear = binaryEntry(toBinary(root))?.dev === binaryEntry(toBinary(upper))?.dev;
    return sum + sizeOf(toBinary(upper), { isNear, isEnded });
  }, 0);
}

function sizeOf(top: BinaryPath, { isNear, isEnded }: Record<'isNear' | 'isEnded', boolean>): number {
  let sum = 0;
  const waiting = [top];
  const closed: { readonly path: BinaryPath; readonly mode: number }[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (path.length > LONGEST_PATH) return Number.POSITIVE_INFINITY;
    const entry = attempt(() => binaryEntry(path));
    if (entry === undefined) continue;
    sum += isNear || entry.kind !== 'file' ? entry.bytes : Math.max(entry.bytes, entry.size);
    if (entry.kind !== 'dir') continue;
    const isClosed = isEnded && (entry.mode & 0o500) !== 0o500;
    if (isClosed) setBinaryMode(path, entry.mode | 0o500);
    for (const name of attempt(() => binaryNames(path)) ?? []) waiting.push(`${path}/${name}`);
    if (isClosed) closed.push({ path, mode: entry.mode });
  }
  for (const { path, mode } of closed.reverse()) setBinaryMode(path, mode);
  return sum;
}

/** What is removed while it is looked at has no size. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The system takes 4,095 bytes; where a change is made its path may be somewhat longer. */
const LONGEST_PATH = 3800;
