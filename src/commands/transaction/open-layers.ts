import type { GuardedPath, SeenDirectory } from '../../contract/files.js';
import type { Confinement, TransactionRules } from '../../contract/processes.js';
import { binaryEntry, toBinary, writeMarker } from '../../platform/fs/binary-fs.js';
import { setEntryTimes } from '../../platform/fs/entry-times.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { treeBytes } from '../../platform/fs/tree-bytes.js';
import { makeOwnDirectory } from '../../platform/process/transaction-directory.js';
import { findCommandSandbox, knownSandbox } from '../sandbox/find-sandbox.js';
import { type CommittedFile, committedVersions } from '../sandbox/git/committed-versions.js';
import { findRepositories, type Repository } from '../sandbox/git/find-repositories.js';
import { LEAVES_SETTINGS } from '../sandbox/git/repository-mounts.js';
import { isWithin } from '../sandbox/mount-holder.js';
import { BegunState } from './begun-state.js';
import { rootIdentity, type TransactionParts } from './commit-transaction.js';
import { openGitUnits } from './git-unit.js';
import { holdMasks } from './held-masks.js';
import type { OverlayMount } from './overlay-mount.js';
import { findOverlaySetup, type OverlaySetup, rootsRefused, whyNot } from './overlay-setup.js';
import { finishTransactions, KIND } from './sweep-transactions.js';

/** Why there is no transaction. */
export interface NoTransaction {
  readonly reason: string;
}

/** The layers of a transaction, ready to be mounted. */
export interface Layers extends Omit<TransactionParts, keyof BegunParts> {
  readonly release: () => void;
  /** Removes the unused layers. */
  readonly drop: () => void;
}

/** The state of the roots when a command begins. */
export type BegunParts = Pick<TransactionParts, 'begun' | 'units'>;

/** Records the state of the roots. Call it when the layers exist, before the command can see them. */
export function noteBegun({ directories, repositories }: Survey, { directory }: Layers): BegunParts {
  return {
    begun: new BegunState(writeMarker(`${directory}/begun`), directories),
    units: openGitUnits(repositories),
  };
}

/** Creates the layers over the roots. Never rejects. */
export async function openLayers(
  confinement: Confinement,
  rules: TransactionRules,
): Promise<(Layers & BegunParts & Pick<Survey, 'hidden'>) | NoTransaction> {
  const survey = await surveyRoots(confinement, rules);
  if ('reason' in survey) return survey;
  const layers = makeLayers(survey);
  if ('reason' in layers) return layers;
  return { ...layers, ...noteBegun(survey, layers), hidden: survey.hidden };
}

/** The facts about the roots that a transaction needs; they may differ for the next command. */
export interface Survey {
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly roots: readonly string[];
  readonly setup: OverlaySetup;
  /** The hidden and guarded paths as they were examined. */
  readonly directories: readonly SeenDirectory[];
  readonly repositories: readonly Repository[];
  readonly hidden: readonly GuardedPath[];
  /** The committed versions shown in place of hidden tracked files. */
  readonly committed: readonly CommittedFile[];
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
  const looked = await lookInto(confinement);
  return 'reason' in looked ? looked : { confinement, rules, roots, setup, ...looked };
}

/**
 * Why the next command cannot have a transaction, as far as that is visible in advance; undefined if it can.
 * Creates nothing. Never rejects.
 */
export async function whyNoTransaction(confinement: Confinement): Promise<string | undefined> {
  const refused = rootsRefused(outermost(confinement.roots));
  if (refused !== undefined) return refused;
  const looked = await lookInto(confinement);
  return 'reason' in looked ? looked.reason : undefined;
}

export function outermost(roots: readonly string[]): readonly string[] {
  return roots.filter((root) => !roots.some((other) => other !== root && isWithin(root, other)));
}

type Looked = Pick<Survey, 'directories' | 'repositories' | 'hidden' | 'committed'>;

async function lookInto(confinement: Confinement): Promise<Looked | NoTransaction> {
  try {
    return await lookForAll(confinement);
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

async function lookForAll(confinement: Confinement): Promise<Looked | NoTransaction> {
  const read = await confinement.readAhead?.();
  const { hidden, readOnly, directories = [], incomplete } = confinement.guarded('every', read);
  if (incomplete)
    return {
      reason: 'not all hidden files in the roots can be found: there are too many, or a name is not UTF-8',
    };
  const repositories = findRepositories(readOnly, confinement.roots);
  if (repositories.some(({ isOutside }) => isOutside)) {
    return { reason: 'the repository of a root lies outside of the roots' };
  }
  const sandbox = knownSandbox() ?? (await findCommandSandbox());
  if (!sandbox.stands) return sandbox;
  const { roots } = confinement;
  const committed = await committedVersions(repositories, hidden, { bubblewrap: sandbox.file, roots });
  if (committed === undefined) return { reason: 'git cannot be asked which hidden files it tracks' };
  return { directories, repositories, hidden, committed };
}

export const GIT_INSIDE: Readonly<Record<string, string>> = {
  // The owner, place and change time of files differ from git's records.
  'core.checkStat': 'minimal',
  'core.trustctime': 'false',
  ...LEAVES_SETTINGS,
};

export function makeLayers(survey: Survey): Layers | NoTransaction {
  try {
    return makeDirectories(survey);
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

/** @throws Error if a directory cannot be created */
function makeDirectories({ confinement, rules, setup, roots, hidden, committed }: Survey): Layers {
  const masks = roots.map((root) => holdMasks(setup, root, hidden, committed));
  const release = (): void => {
    for (const mask of masks) mask.release();
  };
  let directory: string;
  let mounts: readonly OverlayMount[];
  try {
    directory = makeOwnDirectory(setup.place, KIND, ['old', ...roots.flatMap((_, index) => layersOf(index))]);
    mounts = roots.map((root, index) => ({
      ...layerOf(directory, root, index),
      masks: masks[index]?.path ?? '',
      isVolatile: setup.isVolatile,
    }));
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
    committed,
    release,
    drop() {
      release();
      removeTree(directory);
    },
  };
}

function layersOf(index: number): readonly string[] {
  return ['upper', 'work', 'merged'].map((name) => `${index}/${name}`);
}

function layerOf(
  directory: string,
  root: string,
  index: number,
): Pick<OverlayMount, 'root' | 'upper' | 'work' | 'merged'> {
  const at = (name: string): string => `${directory}/${index}/${name}`;
  const upper = at('upper');
  showRootOn(upper, root);
  return { root, upper, work: at('work'), merged: at('merged') };
}

/** The command sees the directory of its changes as the root itself. */
export function showRootOn(upper: string, root: string): void {
  const entry = binaryEntry(toBinary(root));
  if (entry?.kind !== 'dir') throw new Error(`the root "${root}" is gone`);
  setEntryTimes(toBinary(upper), entry.mode, entry.mtimeNs);
}

/**
 * The disk usage of the changes, or their future size if they are copied to another file system, where holes
 * are filled. Infinity if a path in them is too long.
 */
export function changedBytes(mounts: readonly OverlayMount[]): number {
  return mounts.reduce((sum, { root, upper }) => {
    const isNear = binaryEntry(toBinary(root))?.dev === binaryEntry(toBinary(upper))?.dev;
    return sum + treeBytes(toBinary(upper), { isNear, isEnded: false });
  }, 0);
}
