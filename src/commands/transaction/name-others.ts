import { dirname } from 'node:path';
import { toBinary } from '../../platform/fs/binary-fs.js';
import { modifiedMs, ownDirectories, readWhole } from '../../platform/process/transaction-directory.js';
import type { TransactionParts } from './commit-transaction.js';
import type { LeftOut } from './found-changes.js';
import { KIND } from './sweep-transactions.js';
import type { DonePlan } from './transaction-plan.js';

/**
 * Adds the other party to conflicts: one of our commands, whose transaction lists the path, or another
 * program.
 */
export function nameOthers(
  conflicts: readonly LeftOut[],
  { directory, mounts, begun }: Pick<TransactionParts, 'directory' | 'mounts' | 'begun'>,
): readonly LeftOut[] {
  const ours = committedSince(dirname(directory), directory, Number(begun.begunNs / 1_000_000n));
  return conflicts.map((left) => {
    const at = `${toBinary(mounts[left.root]?.root ?? '')}/${left.path}`;
    const isOurs = [...ours].some(
      (path) => path === at || path.startsWith(`${at}/`) || at.startsWith(`${path}/`),
    );
    return { ...left, reason: `${left.reason} (${isOurs ? 'another command' : 'another program'})` };
  });
}

/** The paths that other transactions in the same place have committed since a time, in milliseconds. */
function committedSince(place: string, own: string, sinceMs: number): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const { path } of ownDirectories(place, KIND)) {
    if (path === own || (modifiedMs(`${path}/done.json`) ?? 0) < sinceMs) continue;
    for (const at of pathsOf(readWhole(`${path}/done.json`) ?? '')) paths.add(at);
  }
  return paths;
}

function pathsOf(text: string): readonly string[] {
  try {
    const { roots, changes, isTakenBack } = JSON.parse(text) as DonePlan;
    if (isTakenBack === true) return [];
    return changes.map(({ root, path }) => `${toBinary(roots[root] ?? '')}/${path}`);
  } catch {
    // Another process is just writing it.
    return [];
  }
}
