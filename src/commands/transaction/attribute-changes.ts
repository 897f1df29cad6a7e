import type { BinaryEntry, BinaryPath } from '../../platform/fs/binary-fs.js';
import { differingAttributes } from '../../platform/process/extended-attributes.js';
import type { LeftOut, ScannedRoot } from './found-changes.js';
import { OVERLAY_ATTRIBUTES } from './overlay-mount.js';
import { plainPrint } from './set-ids.js';
import { type PlannedChange, printOf } from './transaction-plan.js';

/** An entry that the overlay has copied, and of which the command changed neither content nor mode. */
export interface CopiedEntry {
  readonly root: ScannedRoot;
  readonly path: BinaryPath;
  /** The copy. */
  readonly entry: BinaryEntry;
  /** The original. */
  readonly lower: BinaryEntry;
}

interface AttributeChanges {
  readonly changes: readonly PlannedChange[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * The changes of extended attributes and access control lists alone. A file is replaced by its copy, which has them. A
 * directory is not replaced, so its changes are left out. Attributes that a directory has lost are not found.
 *
 * The top directory of a root is not examined: its copy is made by toolexec. Never rejects.
 */
export async function findAttributeChanges(all: readonly CopiedEntry[]): Promise<AttributeChanges> {
  const copied = all.filter(({ path }) => path !== '');
  const pairs = copied.map(({ root, path }) => [`${root.upper}/${path}`, `${root.lower}/${path}`] as const);
  const differing = await differingAttributes(OVERLAY_ATTRIBUTES, pairs);
  const changed = differing.flatMap((index) => copied[index] ?? []);
  return {
    changes: changed.flatMap(({ root, path, entry, lower }): readonly PlannedChange[] => {
      if (entry.kind !== 'file') return [];
      const [before, after] = [printOf(lower), plainPrint(entry)];
      const from = `${root.upper}/${path}`;
      return [{ change: 'modify', kind: 'file', root: root.index, path, from, before, after }];
    }),
    leftOut: changed.flatMap(({ root, path, entry }): readonly LeftOut[] => {
      if (entry.kind !== 'dir') return [];
      const one = { root: root.index, path, isDirectory: true, isConflict: false, isHarmless: true } as const;
      return [{ ...one, reason: 'changes of the extended attributes of a directory are left out' }];
    }),
  };
}
