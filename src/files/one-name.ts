import type { EntryStat } from '../platform/fs/fs-entry.js';
import type { Enclosure } from './enclosure.js';
import { severalNames } from './violations.js';

/**
 * Refuses a regular file that has other names, where its root says so. Asked of what is held, it cannot be raced: a
 * name that is added later is made by somebody who could as well copy the content.
 * @throws ToolError `sandbox_violation`
 */
export function assertOneName(
  { territory }: Enclosure,
  asked: string,
  path: string,
  look: () => EntryStat | undefined,
): void {
  const root = territory.refusingHardLinks(path);
  if (root === undefined) return;
  const entry = look();
  if (entry?.isFile() === true && entry.nlink > 1) throw severalNames(asked, path, entry.nlink, root);
}
