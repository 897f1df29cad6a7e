import type { DirectoryMode } from '../../contract/files.js';
import type { CallKey, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { directoriesOf, textsOf } from '../record/noted-change.js';

/** The note that an undo writes about itself before it begins. */
export interface UndoNote {
  /** The call that is undone. */
  readonly of: CallKey;
  /** Directories that are restored. */
  readonly make: readonly DirectoryMode[];
  /** Directories that are removed with their files. */
  readonly tidy: readonly string[];
  /**
   * All missing directories that the undo creates. Recovery removes them if the undo is killed before its
   * first file.
   */
  readonly makes: readonly string[];
  /**
   * If some files are removed before others are restored: a file of the last step. The undo is complete when
   * that file is restored. Undefined: there is only one step.
   */
  readonly last?: string;
}

export function toUndoData({ of, make, tidy, makes, last }: UndoNote): JsonObject {
  return {
    of,
    ...(make.length === 0 ? {} : { make: make.map((directory) => ({ ...directory })) }),
    ...(tidy.length === 0 ? {} : { tidy: [...tidy] }),
    ...(makes.length === 0 ? {} : { makes: [...makes] }),
    ...(last === undefined ? {} : { last }),
  };
}

/** Undefined if the call is not an undo. */
export function readUndoNote(notes: readonly JournalNote[]): UndoNote | undefined {
  for (const { kind, data } of notes) {
    if (kind !== 'undo' || typeof data.of !== 'string') continue;
    const { of, make, tidy, makes, last } = data;
    return {
      ...{ of, make: directoriesOf(make), tidy: textsOf(tidy), makes: textsOf(makes) },
      ...(typeof last === 'string' ? { last } : {}),
    };
  }
  return undefined;
}

/** The note for the call that was undone. */
export function undoneBy(callId: string, at: number): JournalNote {
  return { kind: 'undo', data: { by: callId }, at };
}
