import type { DirectoryMode } from '../../contract/files.js';
import type { CallKey, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { directoriesOf, textsOf } from '../record/noted-change.js';

/** What an undo notes of itself before it begins. */
export interface UndoNote {
  /** The call that is undone. */
  readonly of: CallKey;
  /** Directories that come back. */
  readonly make: readonly DirectoryMode[];
  /** Directories that go with their files. */
  readonly tidy: readonly string[];
  /** All directories that are missing and that it makes: they go again, where it is killed before its first file. */
  readonly makes: readonly string[];
  /**
   * A file of the last step, where some files go before the others come: the undo is done when that one is. Undefined:
   * there is one step.
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

/** Undefined for a call that is no undo. */
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

/** What is noted of the call that was undone. */
export function undoneBy(callId: string, at: number): JournalNote {
  return { kind: 'undo', data: { by: callId }, at };
}
