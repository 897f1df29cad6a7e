import type { ChosenPaths, CommandChanges } from '../../contract/changes.js';
import type { CommandRequest, Confinement, TransactionRules } from '../../contract/processes.js';
import type { ForbidsChange } from '../../contract/programs.js';
import { type BinaryEntry, binaryEntry, canRename, toBinary, toText } from '../../platform/fs/binary-fs.js';
import { stripAttributes } from '../../platform/process/extended-attributes.js';
import type { CommittedFile } from '../sandbox/git/committed-versions.js';
import type { BegunState } from './begun-state.js';
import { chooseChanges } from './choose-changes.js';
import { takeCommitTurn } from './commit-turn.js';
import { CommittedVersions } from './committed-versions.js';
import type { LeftOut, ScannedChanges, ScanOptions } from './found-changes.js';
import { GitChanges } from './git-changes.js';
import { takeGitLocks } from './git-locks.js';
import type { GitUnit } from './git-unit.js';
import { lookAt } from './look-at-changes.js';
import { NotCommitted, named, namingOf, reportOf, requireSize, requireWhole } from './not-committed.js';
import { withoutOpenElsewhere } from './open-elsewhere.js';
import { askLayers, OVERLAY_ATTRIBUTES, type OverlayMount, removeLayersLater } from './overlay-mount.js';
import { type OverlaySetup, rootsRefused } from './overlay-setup.js';
import { absolute, exceptAgreed, refusalBy } from './refuse-changes.js';
import { reportChanges } from './report-changes.js';
import { findUnexpected } from './review-deeds.js';
import { ChangedMeanwhile, scanChanges } from './scan-changes.js';
import { commitPlan, isUnfinished } from './sweep-transactions.js';
import type { DonePlan, FailedChange, NotPlanned, TransactionPlan } from './transaction-plan.js';
import { type UnexpectedChanges, withUnexpected } from './unexpected-changes.js';
import { noteChanging } from './watch-begun.js';

export interface CommitRequest
  extends Pick<CommandRequest, 'tool' | 'keepVersion' | 'agree' | 'deeds' | 'mayCreate' | 'keepsRest'> {
  readonly exitCode: number | null;
  /** The size of what the command left outside the roots, which counts as well. If absent: nothing. */
  readonly outsideBytes?: number;
  readonly forbids?: ForbidsChange;
  /** The caller already has the turn (`takeCommitTurn`). */
  readonly hasTurn?: boolean;
}

/** The layers of a transaction, and the rules for its commit. */
export interface TransactionParts {
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly setup: OverlaySetup;
  readonly directory: string;
  readonly mounts: readonly OverlayMount[];
  /** The identities of the roots when the layers were created. */
  readonly identities: readonly RootIdentity[];
  /** The state of the roots when the command began. */
  readonly begun: BegunState;
  readonly units: readonly GitUnit[];
  /** The versions that commands see in place of hidden files that git tracks. */
  readonly committed: readonly CommittedFile[];
}

/** Distinguishes a directory from another one with the same name. */
export type RootIdentity = Pick<BinaryEntry, 'dev' | 'ino'> | undefined;

export function rootIdentity(root: string): RootIdentity {
  const entry = binaryEntry(toBinary(root));
  return entry === undefined ? undefined : { dev: entry.dev, ino: entry.ino };
}

/**
 * Commits either all changes of a command or none, and returns them.
 * @throws NotCommitted or TooMuch
 */
export async function commitTransaction(
  parts: TransactionParts,
  request: CommitRequest,
): Promise<CommandChanges> {
  const own = refusalBy(parts.rules, request.tool, request.forbids);
  const refusal = exceptAgreed(own, parts.rules, request.mayCreate);
  const found = await scanTransaction(parts, refusal);
  requireSize(parts, found, request);
  const first = requireWhole(parts, found, request);
  if (first.changes.length === 0) return commitScanned(parts, first, request);
  const unexpected = await findUnexpected(parts, first, request.deeds);
  const isAsked = request.agree !== undefined || unexpected.size > 0;
  if (isAsked) noteChanging(parts);
  const chosen = isAsked ? await requireConsent(parts, first, unexpected, request) : undefined;
  const commit = async (isLate: boolean): Promise<CommandChanges> => {
    // Other programs may have changed something during the question, or during the wait.
    const isWhole = chosen === undefined;
    const last = isAsked || isLate ? await scanTransaction(parts, refusal, isWhole) : first;
    const kept = isWhole ? last : chooseChanges(last, chosen, namingOf(parts));
    return commitScanned(parts, requireWhole(parts, withHarmless(kept, first), request), request);
  };
  const report = await whileCommitting(parts, first, commit, request.hasTurn);
  return withUnexpected(report, parts, unexpected);
}

/** @returns the paths to keep; undefined: all. @throws NotCommitted if the person or the policy refuses */
async function requireConsent(
  parts: TransactionParts,
  scanned: ScannedChanges,
  unexpected: UnexpectedChanges,
  { agree, deeds }: CommitRequest,
): Promise<ChosenPaths | undefined> {
  const previewed = lookAt(parts, scanned, unexpected);
  const answer = await (agree ?? deeds?.ask)?.(previewed);
  if (answer === undefined || 'only' in answer) return answer;
  const { why, by } = answer;
  const named = withUnexpected(NOTHING, parts, unexpected);
  throw new NotCommitted(by, why, unexpected.size === 0 ? undefined : named);
}

const NOTHING: CommandChanges = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

/**
 * From here on, no other transaction and no git changes the compared files.
 * @param use `isLate`: something may have changed
 * @param hasTurn the caller already has the turn
 */
export async function whileCommitting<T>(
  parts: TransactionParts,
  { gitLocks }: ScannedChanges,
  use: (isLate: boolean) => Promise<T>,
  hasTurn = false,
): Promise<T> {
  const turn = hasTurn ? undefined : await takeCommitTurn(parts.mounts.map(({ root }) => root));
  const releases = turn === undefined ? [] : [turn.release];
  try {
    const locks = await takeGitLocks(parts.directory, gitLocks);
    if ('heldBy' in locks) {
      const why = `another git process holds ${toText(locks.heldBy)}`;
      throw new NotCommitted('conflict', why, conflictAt(parts, locks.heldBy, why));
    }
    releases.push(locks.release);
    return await use(turn?.hasWaited === true || gitLocks.length > 0);
  } finally {
    for (const release of releases.reverse()) release();
  }
}

function conflictAt(parts: TransactionParts, at: string, reason: string): CommandChanges {
  const root = parts.mounts.findIndex((mount) => at.startsWith(`${toBinary(mount.root)}/`));
  const path = at.slice(toBinary(parts.mounts[root]?.root ?? '').length + 1);
  const left: LeftOut = { root, path, isDirectory: false, reason, isConflict: true };
  return reportOf(parts, { changes: [], leftOut: [left], gitLocks: [] });
}

/** Entries that the first scan left out for good are not found again, so they are taken over. */
export function withHarmless(last: ScannedChanges, first: ScannedChanges): ScannedChanges {
  if (last === first) return first;
  const known = new Set(last.leftOut.map(({ root, path }) => `${root}/${path}`));
  const missing = first.leftOut.filter(
    ({ root, path, isHarmless }) => isHarmless === true && !known.has(`${root}/${path}`),
  );
  return { ...last, leftOut: [...last.leftOut, ...missing] };
}

/** Commits exactly the scanned changes. */
export async function commitScanned(
  parts: TransactionParts,
  { changes, leftOut }: ScannedChanges,
  request: Pick<CommitRequest, 'exitCode' | 'keepVersion' | 'keepsRest'>,
): Promise<CommandChanges> {
  const { confinement, directory, mounts } = parts;
  const roots = mounts.map(({ root }) => root);
  const moved = changes.flatMap(({ kind, from, isInside }) =>
    from === undefined || kind === 'link' ? [] : kind === 'dir' ? [`${from}/`] : isInside ? [] : [from],
  );
  const inodes = parts.identities.map((identity) => identity?.ino ?? '');
  const plan: TransactionPlan = {
    ...{ version: 1, roots, inodes, exitCode: request.exitCode, changes },
    ...(leftOut.length === 0 ? {} : { leftOut: leftOut.map(notPlanned) }),
  };
  const keptRest = request.keepsRest === true || parts.rules.onConflict === 'keep_rest';
  const done: Pick<DonePlan, 'failed' | 'left' | 'isTakenBack'> =
    changes.length === 0
      ? { failed: [] }
      : await commitPlan(directory, plan, {
          onConflict: keptRest ? 'keep_rest' : 'takeBack',
          prepared: stripAttributes(OVERLAY_ATTRIBUTES, moved),
        });
  if (done.isTakenBack === true) throw takenBack(parts, plan, done.failed, request.keepVersion);
  const report = reportChanges({
    ...{ roots, first: confinement.roots[0] ?? '', changes, leftOut },
    failed: failuresOf(done),
    keepVersion: request.keepVersion,
  });
  if (changes.length === 0) void removeLayersLater(mounts, directory);
  else if (!isUnfinished(directory))
    for (const [index, mount] of mounts.entries()) void removeLayersLater([mount], `${directory}/${index}`);
  return report;
}

function notPlanned({ root, path, isDirectory, reason, isConflict }: LeftOut): NotPlanned {
  return { root, path, isDirectory, reason, isConflict };
}

/** Another program changed something between the last scan and the commit, which was undone. */
function takenBack(
  parts: TransactionParts,
  { changes }: TransactionPlan,
  failed: readonly FailedChange[],
  keepVersion: CommitRequest['keepVersion'],
): Error {
  const stopped = failed.filter(({ isTakenBack }) => isTakenBack !== true);
  const conflicts = stopped.flatMap(({ index, reason, isConflict }): LeftOut[] => {
    const change = changes[index];
    if (change === undefined || !isConflict) return [];
    const { root, path, kind, from } = change;
    const left = { root, path, isDirectory: kind === 'dir', reason, isConflict };
    return [from === undefined ? left : { ...left, from }];
  });
  if (conflicts.length === 0) return new Error(stopped[0]?.reason ?? 'it could not be written');
  const report = reportOf(parts, { changes: [], leftOut: conflicts, gitLocks: [] }, keepVersion);
  return new NotCommitted('conflict', `others changed ${named(conflicts)} while it ran`, report);
}

/**
 * A change that should have been undone, but could not be, is still there. So the commit did not succeed; the cause is
 * a conflict in any case.
 */
function failuresOf({ failed, left }: Pick<DonePlan, 'failed' | 'left'>): readonly FailedChange[] {
  if (left === undefined) return failed;
  const there = new Set(left.map(({ index }) => index));
  return failed.filter(({ index }) => !there.has(index)).map((failure) => ({ ...failure, isConflict: true }));
}

const MOST_SCANS = 3;

interface MeasuredChanges extends ScannedChanges {
  readonly bytes: number;
}

/**
 * The changes, and the reasons that keep some of them from being committed.
 * @throws NotCommitted if a root has been replaced; TooMuch for a path that is too long
 */
export async function scanTransaction(
  parts: TransactionParts,
  refusal: ScanOptions['refusal'],
  mayMoveTrees = true,
): Promise<MeasuredChanges> {
  for (let round = 1; ; round++) {
    requireSameRoots(parts);
    try {
      const committed = new CommittedVersions(parts);
      const look = (how: ScanOptions['refusal']) => scan(parts, committed, how, mayMoveTrees);
      const found = await look(refusal);
      const following = await committed.following(refusal, found.leftOut);
      if (following === undefined) return found;
      return { ...withHarmless(await look(following), found), bytes: found.bytes };
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      if (round === MOST_SCANS)
        throw new NotCommitted('conflict', 'other programs kept changing the same directories');
    }
  }
}

/** @throws NotCommitted if the changes would be made in another directory */
function requireSameRoots({ mounts, identities }: Pick<TransactionParts, 'mounts' | 'identities'>): void {
  const roots = mounts.map(({ root }) => root);
  const replaced = roots.find((root, index) => {
    const [now, before] = [rootIdentity(root), identities[index]];
    return now === undefined || now.ino !== before?.ino || now.dev !== before.dev;
  });
  const why =
    replaced === undefined ? rootsRefused(roots) : `"${replaced}" was moved, or something else was put there`;
  if (why !== undefined) throw new NotCommitted('conflict', why, undefined, true);
}

async function scan(
  { rules, setup, mounts, directory, begun, units }: TransactionParts,
  committed: CommittedVersions,
  refusal: ScanOptions['refusal'],
  mayMoveTrees: boolean,
): Promise<MeasuredChanges> {
  const roots = mounts.map(({ root, upper }, index) => ({
    index,
    lower: toBinary(root),
    upper: toBinary(upper),
  }));
  const git = new GitChanges(units, begun, directory);
  const scanned = await scanChanges(roots, {
    begun,
    git: (change) => git.verdict(change),
    refusal,
    isHidden: (root, path) => rules.isHidden(absolute(roots[root], path)),
    isUnchanged: (root, path, upper, entry) => committed.isUnchanged(root, path, upper, entry),
    mayMoveTrees: mayMoveTrees && roots.every(({ lower }) => canRename(toBinary(directory), lower)),
    stillSeen: (witnesses) =>
      askLayers(
        setup.programs,
        mounts,
        witnesses.map(({ root, path }) => ({ mount: root, path })),
      ),
  });
  return withoutOpenElsewhere(
    { ...scanned, gitLocks: git.locks },
    mounts.map(({ root }) => root),
  );
}
