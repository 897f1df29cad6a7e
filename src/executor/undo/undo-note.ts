import type { CallKey, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { textsOf } from '../recover/noted-change.js';

/** What an undo notes of itself before it begins. */
export interface UndoNote {
  /** The call that is undone. */
  readonly of: CallKey;
  /** Directories that go with their files. */
  readonly tidy: readonly string[];
}

export function toUndoData({ of, tidy }: UndoNote): JsonObject {
  return { of, ...(tidy.length === 0 ? {} : { tidy: [...tidy] }) };
}

/** Undefined for a call that is no undo. */
export function readUndoNote(notes: readonly JournalNote[]): UndoNote | undefined {
  for (const { kind, data } of notes) {
    if (kind === 'undo' && typeof data.of === 'string') return { of: data.of, tidy: textsOf(data.tidy) };
  }
  return undefined;
}

/** What is noted of the call that was undone. */
export function undoneBy(callId: string, at: number): JournalNote {
  return { kind: 'undo', data: { by: callId }, at };
}
