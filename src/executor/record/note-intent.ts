import type { FileIntent } from '../../contract/files.js';
import type { CallKey, Journal } from '../../contract/journal.js';
import { toNotedChange } from '../recover/noted-change.js';

/** Resolves when it is on disk what a call will replace, with what is there now. */
export async function noteIntent(
  journal: Journal,
  key: CallKey,
  { op, changes, made, removed }: FileIntent,
  at: number,
): Promise<void> {
  // Asked for in one turn: they share a commit.
  const kept = changes.map(({ content }) => (content === undefined ? undefined : journal.keep(content)));
  const data = {
    op,
    changes: changes.map(toNotedChange),
    ...(made === undefined ? {} : { made: [...made] }),
    ...(removed === undefined ? {} : { removed: removed.map((directory) => ({ ...directory })) }),
  };
  const note = journal.note(key, { kind: 'intent', data, at });
  await Promise.all([...kept, note]);
}
