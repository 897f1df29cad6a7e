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
import { isWithin } from '../sandbox/mount-holder.js';
import { BegunState } from './begun-state.js';
import { rootIdentity, type TransactionParts } from './commit-transaction.js';
import { openGitUnits } from './git-unit.js';
import { holdMasks } from './held-masks.js';
import type { OverlayMount } from './overlay-mount.js';
import { findOverlaySetup, type OverlaySetup, rootsRefused, whyNot } from './overlay-setup.js';
import { finishTransactions, KIND } from './sweep-transactions.js';

/** Why there is none. */
export interface NoTransaction {
  readonly reason: string;
}

/** The layers of what is kept apart, ready to be mounted. */
export interface Layers extends Omit<TransactionParts, keyof BegunParts> {
  readonly release: () => void;
  /** They are not used. */
  readonly drop: () => void;
}

/** What is known of the roots when a command begins. */
export type BegunParts = Pick<TransactionParts, 'begun' | 'units'>;

/** Notes what the roots are like: to be called when the layers are made, before the command can see them. */
export function noteBegun({ directories, repositories }: Survey, { directory }: Layers): BegunParts {
  return {
    begun: new BegunState(writeMarker(`${directory}/begun`), directories),
    units: openGitUnits(repositories),
  };
}

/** Makes the layers over the roots. Never rejects. */
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

/** What has to be known of the roots before a command is kept apart from them: it may be otherwise for the next. */
export interface Survey {
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly roots: readonly string[];
  readonly setup: OverlaySetup;
  /** As they were looked into. */
  readonly directories: readonly SeenDirectory[];
  readonly repositories: readonly Repository[];
  readonly hidden: readonly GuardedPath[];
  /** What is shown in the place of hidden files that git tracks. */
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
 * Why the next command can have no transaction, as far as that can be seen without one; undefined: it can. Nothing is made.
 * Never rejects.
 */
export async function whyNoTransaction(confinement: Confinement): Promise<string | undefined> {
  const refused = rootsRefused(outermost(confinement.roots));
  if (refused !== undefined) return refused;
  const looked = await lookInto(confinement);
  return 'reason' in looked ? looked.reason : undefined;
}

function outermost(roots: readonly string[]): readonly string[] {
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
  const { hidden, readOnly, directories = [], incomplete } = confinement.guarded('every');
  if (incomplete)
    return { reason: 'there is more in the roots than can be looked through for what is hidden' };
  const repositories = findRepositories(readOnly, confinement.roots);
  if (repositories.some(({ isOutside }) => isOutside)) {
    return { reason: 'the repository of a root lies outside of the roots' };
  }
  const sandbox = knownSandbox() ?? (await findCommandSandbox());
  if (!sandbox.stands) return sandbox;
  const { roots } = confinement;
  const committed = await committedVersions(repositories, hidden, { bubblewrap: sandbox.file, roots });
  if (committed === undefined) return { reason: 'git cannot be asked what it tracks of the hidden files' };
  return { directories, repositories, hidden, committed };
}

/** Whose file it is, where it lies and when its state was changed differ from what git has noted. */
export const GIT_INSIDE: Readonly<Record<string, string>> = {
  'core.checkStat': 'minimal',
  'core.trustctime': 'false',
};

export function makeLayers(survey: Survey): Layers | NoTransaction {
  try {
    return makeDirectories(survey);
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

/** @throws Error where a directory cannot be made */
function makeDirectories({ confinement, rules, setup, roots, hidden, committed }: Survey): Layers {
  const masks = roots.map((root) => holdMasks(setup, root, hidden, committed));
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
    return sum + treeBytes(toBinary(upper), { isNear, isEnded });
  }, 0);
}
