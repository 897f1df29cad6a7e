import { type BinaryPath, readBinaryFile } from '../../platform/fs/binary-fs.js';
import { listIndex } from '../../platform/process/list-index.js';

export interface ComparedIndexes {
  /** As it was when the command began; undefined: there was none. */
  readonly before: BinaryPath | undefined;
  /** As others have it now. */
  readonly theirs: BinaryPath;
  readonly ours: BinaryPath;
  /** The directory of git with their `HEAD`. */
  readonly git: BinaryPath;
}

/** Whose index is the right one where both wrote it: the entries tell, times are a cache. */
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
