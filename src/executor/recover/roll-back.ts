import type { ContainedFiles, FileChange } from '../../contract/files.js';
import type { Journal } from '../../contract/journal.js';
import type { InspectedChange } from './inspect-change.js';

/**
 * Puts a half-made change of several files back to where it began: all of them, or none. Only what is exactly as the
 * change made it is touched. False: it cannot be done.
 * @param files that take canonical paths
 */
export async function rollBack(
  inspected: readonly InspectedChange[],
  files: ContainedFiles,
  journal: Journal,
): Promise<boolean> {
  const changes: FileChange[] = [];
  for (const { change, state } of inspected) {
    if (state !== 'after') continue;
    const { path, before, after, beforeMode, preimage } = change;
    const bytes = before === null ? null : preimage === undefined ? undefined : await journal.kept(preimage);
    if (bytes === undefined) return false;
    changes.push({
      path,
      bytes,
      expectedSha256: after,
      ...(beforeMode === undefined ? {} : { mode: beforeMode }),
    });
  }
  try {
    await files.writeAll(changes);
    return true;
  } catch {
    // Somebody has changed one of them meanwhile, perhaps by doing the same: what they are now is looked at again.
    return false;
  }
}
