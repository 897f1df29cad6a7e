import type { RestoredFile, Sandbox } from '../../contract/files.js';
import type { Journal } from '../../contract/journal.js';
import type { InspectedChange } from './inspect-change.js';

/**
 * Puts a half-made change of several files back to where it began: all of them, or none. Only what is exactly as the
 * change made it is touched. False: it cannot be done.
 * @param sandbox one that takes canonical paths
 */
export async function rollBack(
  inspected: readonly InspectedChange[],
  sandbox: Sandbox,
  journal: Journal,
): Promise<boolean> {
  const files: RestoredFile[] = [];
  for (const { change, state } of inspected) {
    if (state !== 'after') continue;
    const { path, before, after, beforeMode, beforeKind, beforeOwner, preimage } = change;
    if (beforeKind !== undefined) return false;
    const bytes = before === null ? null : preimage === undefined ? undefined : await journal.kept(preimage);
    if (bytes === undefined) return false;
    files.push({
      path,
      bytes,
      expectedSha256: after,
      ...(beforeMode === undefined ? {} : { mode: beforeMode }),
      ...(beforeOwner === undefined ? {} : { owner: beforeOwner }),
    });
  }
  try {
    await sandbox.restore(files);
    return true;
  } catch {
    // Another process has changed one of them meanwhile, perhaps by doing the same: they are looked at again.
    return false;
  }
}
