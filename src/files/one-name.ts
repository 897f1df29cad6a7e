import type { EntryStat } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';
import { severalNames } from './violations.js';

/**
 * Refuses a regular file that has other names, where its root says so. Asked of an open file, it cannot be raced: a
 * process that adds a name later could as well copy the content.
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
