import type {
  CommandChanges,
  CommandRequest,
  Confinement,
  TransactionRules,
} from '../../contract/processes.js';
import {
  type BinaryPath,
  binaryEntry,
  binaryNames,
  toBinary,
  toText,
  writeMarker,
} from '../../platform/fs/binary-fs.js';
import { setEntryTimes } from '../../platform/fs/placeholder-entry.js';
import { makeOwnDirectory, removeLater } from '../../platform/process/transaction-directory.js';
import { ownIds } from '../../platform/runtime/environment.js';
import { findRepositories } from '../sandbox/git/find-repositories.js';
import { trackedLayer } from '../sandbox/git/tracked-placeholders.js';
import { isWithin } from '../sandbox/mount-holder.js';
import { checkGit } from './check-git.js';
import { holdMasks } from './held-masks.js';
import { askLayers, type OverlayMount, overlayCommand } from './overlay-mount.js';
import { findOverlaySetup, type OverlaySetup, rootsRefused, whyNot } from './overlay-setup.js';
import { reportChanges } from './report-changes.js';
import {
  ChangedMeanwhile,
  type Refusal,
  type ScannedChanges,
  type ScannedRoot,
  scanChanges,
} from './scan-changes.js';
import { commitPlan, KIND } from './sweep-transactions.js';
import type { TransactionPlan } from './transaction-plan.js';

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
  /** Makes real what may be, and says what was changed and what was not. The command and all it started must be dead. */
  commit(request: CommitRequest): Promise<CommandChanges>;
  discard(): void;
  /** To be called when the command has ended, whatever becomes of the changes. */
  release(): void;
}

export interface CommitRequest extends Pick<CommandRequest, 'tool' | 'keepVersion'> {
  readonly exitCode: number | null;
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
  const roots = outermost(confinement.roots);
  const setup = await findOverlaySetup(roots, rules.places);
  if ('reason' in setup) return setup;
  const refused = rootsRefused(roots);
  if (refused !== undefined) return { reason: refused };
  try {
    return makeTransaction(confinement, rules, setup, roots);
  } catch (error) {
    return { reason: whyNot(error) };
  }
}

function outermost(roots: readonly string[]): readonly string[] {
  return roots.filter((root) => !roots.some((other) => other !== root && isWithin(root, other)));
}

function makeTransaction(
  confinement: Confinement,
  rules: TransactionRules,
  setup: OverlaySetup,
  roots: readonly string[],
): Transaction | NoTransaction {
  const guarded = confinement.guarded('every');
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
  const begunNs = writeMarker(`${directory}/begun`);
  const { uid, gid } = ownIds();
  return {
    directory,
    roots,
    command: overlayCommand(setup.programs, mounts),
    mounts: [
      ...['--uid', `${uid}`, '--gid', `${gid}`],
      ...mounts.flatMap(({ root, merged }) => ['--bind', merged, root]),
      ...tracked.mounts,
    ],
    git: { 'core.checkStat': 'minimal', 'core.trustctime': 'false', ...tracked.env },
    maxMb: rules.maxMb,
    size: () => mounts.reduce((sum, { upper }) => sum + sizeOf(toBinary(upper)), 0),
    commit: (request) => commit({ confinement, rules, setup, directory, mounts, begunNs, request }),
    discard: () => void removeLater(directory),
    release,
  };
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

interface CommitParts {
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly setup: OverlaySetup;
  readonly directory: string;
  readonly mounts: readonly OverlayMount[];
  readonly begunNs: bigint;
  readonly request: CommitRequest;
}

async function commit(parts: CommitParts): Promise<CommandChanges> {
  const { confinement, directory, mounts, request } = parts;
  const { changes, leftOut } = await scanPatiently(parts);
  const roots = mounts.map(({ root }) => root);
  const plan: TransactionPlan = { version: 1, roots, exitCode: request.exitCode, changes };
  const failed = changes.length === 0 ? [] : commitPlan(directory, plan).failed;
  const report = reportChanges({
    roots,
    first: confinement.roots[0] ?? '',
    changes,
    failed,
    leftOut,
    keepVersion: request.keepVersion,
  });
  if (changes.length === 0) void removeLater(directory);
  else for (const index of mounts.keys()) void removeLater(`${directory}/${index}`);
  return report;
}

const MOST_SCANS = 3;

async function scanPatiently(parts: CommitParts): Promise<ScannedChanges> {
  for (let round = 1; ; round++) {
    try {
      return await scan(parts);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || round === MOST_SCANS) throw error;
    }
  }
}

function scan({ rules, setup, mounts, directory, begunNs, request }: CommitParts): Promise<ScannedChanges> {
  const roots = mounts.map(({ root, upper }, index) => ({
    index,
    lower: toBinary(root),
    upper: toBinary(upper),
  }));
  const device = binaryEntry(toBinary(directory))?.dev;
  return scanChanges(roots, {
    begunNs,
    refusal: (root, path, change, entry) =>
      refusalOf({ root, path, change, entry, rules, tool: request.tool }),
    isHidden: (root, path) => rules.isHidden(absolute(roots[root], path)),
    mayMoveTrees: roots.every(({ lower }) => binaryEntry(lower)?.dev === device),
    stillSeen: (witnesses) =>
      askLayers(
        setup.programs,
        mounts,
        witnesses.map(({ root, path }) => ({ mount: root, path })),
      ),
  });
}

interface RefusalQuestion {
  readonly root: ScannedRoot;
  readonly path: BinaryPath;
  readonly change: 'write' | 'delete';
  readonly entry: Parameters<typeof checkGit>[3];
  readonly rules: TransactionRules;
  readonly tool: string | undefined;
}

function refusalOf({ root, path, change, entry, rules, tool }: RefusalQuestion): Refusal | undefined {
  const at = absolute(root, path);
  const byRule = rules.ruleRefusal(at, change, tool);
  if (byRule !== undefined) return { reason: byRule };
  const slash = /(^|\/)\.git(\/|$)/.exec(path);
  const git =
    slash === null ? undefined : absolute(root, path.slice(0, slash.index + (slash[1] ?? '').length + 4));
  if (git !== undefined && !rules.isHidden(git) && rules.refusal(git, 'write') !== undefined) {
    const answer = checkGit(root, path, change, entry);
    if (answer === 'silent') return 'silent';
    if (answer !== undefined) return answer === 'fine' ? undefined : { reason: answer.refused };
  }
  const reason = rules.refusal(at, change);
  return reason === undefined ? undefined : { reason };
}

function absolute(root: ScannedRoot | undefined, path: BinaryPath): string {
  return `${toText(root?.lower ?? '')}/${toText(path)}`;
}
