import type { EntryStat } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';
import { severalNames } from './violations.js';

/**
 * Refuses a regular file with several names if its root requires that. The check uses an open file and cannot
 * be raced: a process that adds a name later could also copy the content.
 * @throws ToolError `sandbox_violation`
 */
export function assertOneName(
  { rootSet }: Containment,
  asked: string,
  path: string,
  look: () => EntryStat | undefined,
): void {
  const root = rootSet.refusingHardLinks(path);
  if (root === undefined) return;
  const entry = look();
  if (entry?.isFile() === true && entry.nlink > 1) throw severalNames(asked, path, entry.nlink, root);
}
