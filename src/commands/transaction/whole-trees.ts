import { type BinaryPath, binaryEntry, binaryNames } from '../../platform/fs/binary-fs.js';
import { type EntryPrint, insideOf, isAsPrinted, type PlannedChange } from './transaction-plan.js';

/** The known content of a directory that moves as a whole, by path. */
export type KnownTree = ReadonlyMap<BinaryPath, EntryPrint | undefined>;

/** @param of which of the prints of a change counts */
export function knownTree(
  changes: readonly PlannedChange[],
  index: number,
  of: 'before' | 'after',
): KnownTree {
  const top = changes[index];
  const from = (top?.path.length ?? 0) + 1;
  return new Map(insideOf(changes, index).map((change) => [change.path.slice(from), change[of]]));
}

/**
 * Whether everything in a directory is known and unchanged. Entries that another program removed do not
 * count.
 */
export function isAsKnown(directory: BinaryPath, known: KnownTree): boolean {
  return unknownIn(directory, known) === undefined;
}

/** The path of the first entry that is not. */
export function unknownIn(directory: BinaryPath, known: KnownTree): BinaryPath | undefined {
  const waiting: BinaryPath[] = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    for (const name of binaryNames(below === '' ? directory : `${directory}/${below}`)) {
      const path = below === '' ? name : `${below}/${name}`;
      const print = known.get(path);
      const at = `${directory}/${path}`;
      if (print === undefined || !isAsPrinted(at, print)) return path;
      if (binaryEntry(at)?.kind === 'dir') waiting.push(path);
    }
  }
  return undefined;
}
