import type { CommandChanges } from '../../contract/changes.js';
import type { CommandOutcome } from '../../contract/processes.js';
import { toText } from '../../platform/fs/binary-fs.js';
import type { CommitRequest, TransactionParts } from './commit-transaction.js';
import type { LeftOut, ScannedChanges } from './found-changes.js';
import { nameOthers } from './name-others.js';
import { namingIn, reportChanges } from './report-changes.js';
import { TooMuch } from './scan-changes.js';

/** None of the changes were committed. The message gives the reason. */
export class NotCommitted extends Error {
  /** The cause: the person or the policy, changes by others, or changes that commands may not make. */
  readonly by: NonNullable<CommandOutcome['discardedBy']>;
  /** The paths that prevented the commit. */
  readonly changes: CommandChanges | undefined;
  /** The roots no longer exist, or a program has a file open: running the command again changes nothing. */
  readonly isLasting: boolean;

  constructor(by: NotCommitted['by'], why: string, changes?: CommandChanges, isLasting = false) {
    super(why);
    this.by = by;
    this.changes = changes;
    this.isLasting = isLasting;
  }
}

/** @throws TooMuch */
export function requireSize(
  { rules }: Pick<TransactionParts, 'rules'>,
  { bytes }: { readonly bytes: number },
  { outsideBytes = 0 }: Pick<CommitRequest, 'outsideBytes'>,
): void {
  if (bytes + outsideBytes > rules.maxMb * 1024 * 1024)
    throw new TooMuch(`it has changed more than ${rules.maxMb} MB`);
}

/** @throws NotCommitted if a part of the changes may not be committed */
export function requireWhole(
  parts: TransactionParts,
  scanned: ScannedChanges,
  request: CommitRequest,
): ScannedChanges {
  const { leftOut } = scanned;
  if (request.keepsRest === true) return scanned;
  requireAllowed(
    parts,
    leftOut.filter(({ isConflict, isHarmless }) => !isConflict && isHarmless !== true),
    request.keepVersion,
  );
  const found = leftOut.filter(({ isConflict }) => isConflict);
  if (found.length === 0 || parts.rules.onConflict === 'keep_rest') return scanned;
  const conflicts = nameOthers(found, parts);
  const changes = reportOf(parts, { changes: [], leftOut: conflicts, gitLocks: [] }, request.keepVersion);
  const isOpen = found.every(({ isOpenElsewhere }) => isOpenElsewhere === true);
  const why = isOpen
    ? `another program has ${named(conflicts.filter(({ isDirectory }) => !isDirectory))} open for writing`
    : `others changed ${named(conflicts)} while it ran`;
  throw new NotCommitted('conflict', why, changes, isOpen);
}

/** @throws NotCommitted if any change was refused */
export function requireAllowed(
  parts: Pick<TransactionParts, 'mounts' | 'confinement'>,
  refused: readonly LeftOut[],
  keepVersion: CommitRequest['keepVersion'],
): void {
  if (refused.length === 0) return;
  const changes = reportOf(parts, { changes: [], leftOut: refused, gitLocks: [] }, keepVersion);
  throw new NotCommitted('rules', `commands may not change ${named(refused)}`, changes);
}

export function namingOf({ mounts, confinement }: Pick<TransactionParts, 'mounts' | 'confinement'>) {
  return namingIn(
    mounts.map(({ root }) => root),
    confinement.roots[0] ?? '',
  );
}

export function named(left: readonly LeftOut[]): string {
  const shown = left
    .slice(0, 3)
    .map(({ path, isDirectory }) => JSON.stringify(`${toText(path)}${isDirectory ? '/' : ''}`));
  return left.length > shown.length
    ? `${shown.join(', ')} and ${left.length - shown.length} more`
    : shown.join(', ');
}

export function reportOf(
  { mounts, confinement }: Pick<TransactionParts, 'mounts' | 'confinement'>,
  { changes, leftOut }: ScannedChanges,
  keepVersion?: CommitRequest['keepVersion'],
): CommandChanges {
  const roots = mounts.map(({ root }) => root);
  return reportChanges({
    ...{ roots, first: confinement.roots[0] ?? '', changes, failed: [], leftOut },
    keepVersion,
  });
}
