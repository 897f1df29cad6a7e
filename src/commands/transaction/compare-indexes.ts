import { type BinaryPath, readBinaryFile } from '../../platform/fs/binary-fs.js';
import { listIndex } from '../../platform/process/list-index.js';

export interface ComparedIndexes {
  /** The index when the command began; undefined if there was none. */
  readonly before: BinaryPath | undefined;
  /** The index of the other program. */
  readonly theirs: BinaryPath;
  readonly ours: BinaryPath;
  /** The git directory with the other program's `HEAD`. */
  readonly git: BinaryPath;
}

/** Decides between two written indexes: their entries count, cached times do not. */
export function compareIndexes({
  before,
  theirs,
  ours,
  git,
}: ComparedIndexes): 'theirs' | 'ours' | 'conflict' {
  const [first, second] = [readBinaryFile(theirs), readBinaryFile(ours)];
  if (first.equals(second)) return 'theirs';
  if (before === undefined) return 'conflict';
  const begun = readBinaryFile(before);
  if (begun.equals(first)) return 'ours';
  const lists = [before, theirs, ours].map((index) => listIndex(git, index));
  const [old, their, our] = lists;
  if (old === undefined || their === undefined || our === undefined) return 'conflict';
  if (our.equals(old) || our.equals(their)) return 'theirs';
  return their.equals(old) ? 'ours' : 'conflict';
}
