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
  /** How many parts are undone in turn. */
  readonly parts: number;
}

export function toUndoData({ of, make, tidy, makes, last, parts }: UndoNote): JsonObject {
  return {
    of,
    ...(make.length === 0 ? {} : { make: make.map((directory) => ({ ...directory })) }),
    ...(tidy.length === 0 ? {} : { tidy: [...tidy] }),
    ...(makes.length === 0 ? {} : { makes: [...makes] }),
    ...(last === undefined ? {} : { last }),
    ...(parts === 1 ? {} : { parts }),
  };
}

/** Undefined if the call is not an undo. */
export function readUndoNote(notes: readonly JournalNote[]): UndoNote | undefined {
  // The last one: each part that consists of files has its own.
  for (const { kind, data } of notes.toReversed()) {
    if (kind !== 'undo' || typeof data.of !== 'string') continue;
    const { of, make, tidy, makes, last, parts } = data;
    return {
      ...{ of, make: directoriesOf(make), tidy: textsOf(tidy), makes: textsOf(makes) },
      parts: typeof parts === 'number' ? parts : 1,
      ...(typeof last === 'string' ? { last } : {}),
    };
  }
  return undefined;
}

/** The note for the call that was undone. */
export function undoneBy(callId: string, at: number): JournalNote {
  return { kind: 'undo', data: { by: callId }, at };
}
