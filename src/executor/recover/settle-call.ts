import { dirname, isAbsolute } from 'node:path';
import type { ToolResult } from '../../contract/call.js';
import type { RestoreOptions } from '../../contract/files.js';
import type { CallRecord, JournalNote } from '../../contract/journal.js';
import { isAllReads } from '../../effects/traits.js';
import type { ReadyCall } from '../plan/judged-call.js';
import { failure } from '../record/results.js';
import type { EngineSettings } from '../settings.js';
import { readUndoNote, type UndoNote, undoneBy } from '../undo/undo-note.js';
import { type InspectedChange, type InspectedIntent, inspectIntent, verdictOf } from './inspect-change.js';
import { readIntent } from './noted-change.js';
import { reviveCall } from './revive-call.js';
import { rollBack } from './roll-back.js';
import { runProbe, type Verdict } from './run-probe.js';
import { toSettledResult } from './settled-result.js';

/**
 * The answer to a call whose process is dead (D109): never started is `cancelled`; started is `outcome_unknown`, unless
 * its tool can tell. A half-made change of several files is put back first. Nothing is run again.
 */
export async function settleCall(record: CallRecord, settings: EngineSettings): Promise<ToolResult> {
  if (record.worker === undefined) return neverStarted(record);
  const { journal } = settings;
  // Notes name files by their canonical paths, whatever is accepted of callers.
  const inside = { ...settings, sandbox: settings.sandbox.byCanonicalPath() };
  const notes = (await journal?.notes(record.key)) ?? [];
  const inspected = await inspectLastIntent(record, notes, inside);
  const undo = readUndoNote(notes);
  const ready = undo === undefined ? await reviveCall(record, notes, inside) : undefined;
  const lastChange = inspected === undefined ? 'not_applied' : lastChangeOf(inspected.changes);
  // What an undo does is files alone, so that they say it all.
  const asked = ready === undefined ? 'unknown' : await runProbe(ready, { notes, lastChange }, inside);
  const verdict = undo === undefined ? asked : lastChange;
  // Where files are neither old nor new, what was left beside them may be all there is of the old. Not so of an undo:
  // it keeps in the journal what it replaces.
  if (lastChange !== 'unknown' || undo !== undefined) sweep(record, inspected, ready, inside);
  // Directories are empty only then.
  if (lastChange === 'not_applied') {
    await setDirectories({ tidy: [...(inspected?.made ?? []), ...(undo?.makes ?? [])] }, inside);
  }
  if (undo !== undefined && verdict === 'applied') await completeUndo(record, undo, inside);
  return toSettledResult({ record, verdict, ready, notes, inspected }, settings);
}

function neverStarted(record: CallRecord): ToolResult {
  const { effects, acceptedBy } = record;
  const who = acceptedBy === undefined ? '' : ` (pid ${acceptedBy.pid})`;
  // What only reads is not marked when it starts: either way it has changed nothing.
  const message =
    effects.length > 0 && isAllReads(effects)
      ? `Its process${who} died before it was answered. It only reads: nothing was changed.`
      : `It was never started: its process${who} died before.`;
  const metadata = { recovered: true, settled_by: 'recovery' };
  return failure({ id: record.callId, name: record.toolName }, 'cancelled', message, 'no', { metadata });
}

/** Only the last change can have been under way: those before it were made, or given up. */
async function inspectLastIntent(
  { key }: CallRecord,
  notes: readonly JournalNote[],
  { journal, sandbox }: EngineSettings,
): Promise<InspectedIntent | undefined> {
  const intents = notes.flatMap(({ kind, data }) => (kind === 'intent' ? [readIntent(data)] : []));
  const last = intents.at(-1);
  if (last === undefined) return undefined;
  const { made } = last;
  const changes = inspectIntent(last, sandbox);
  if (last.op !== 'writeAll' || verdictOf(changes) !== 'mixed' || journal === null) {
    return { changes, made, rolledBack: false };
  }
  // Another process may have settled it: then what the files are now is somebody else's doing.
  if ((await journal.call(key))?.state === 'done') return { changes, made, rolledBack: false };
  const rolledBack = await rollBack(changes, sandbox, journal);
  return { changes: inspectIntent(last, sandbox), made, rolledBack };
}

/** What was made for files that did not come goes, as far as nothing else is in it by now. */
async function setDirectories(
  directories: Pick<RestoreOptions, 'make' | 'tidy'>,
  { sandbox, logger }: EngineSettings,
): Promise<void> {
  try {
    await sandbox.restore([], directories);
  } catch (error) {
    logger.warn({ why: String(error) }, 'empty directories could not be put right');
  }
}

/** What an undo would still have done, had its process lived. */
async function completeUndo(
  { callId }: CallRecord,
  { of, make, tidy }: UndoNote,
  settings: EngineSettings,
): Promise<void> {
  await setDirectories({ make, tidy }, settings);
  await settings.journal?.note(of, undoneBy(callId, settings.clock.now()));
}

function lastChangeOf(changes: readonly InspectedChange[]): Verdict {
  const verdict = verdictOf(changes);
  return verdict === undefined || verdict === 'mixed' ? 'unknown' : verdict;
}

/** Removes what the dead process has left beside the files that it was changing. */
function sweep(
  { worker, effects }: CallRecord,
  inspected: InspectedIntent | undefined,
  ready: ReadyCall | undefined,
  { sandbox }: EngineSettings,
): void {
  if (worker === undefined) return;
  const changes = inspected?.changes ?? [];
  const declared = (ready?.effects ?? []).flatMap(({ effect: { kind }, at }) =>
    at !== undefined && (kind === 'write' || kind === 'delete') ? [at] : [],
  );
  // An undo has no tool: it names its files by their canonical paths.
  const own =
    ready === undefined ? effects.flatMap((effect) => (effect.kind === 'write' ? [effect.path] : [])) : [];
  const paths = [...declared, ...own.filter(isAbsolute), ...changes.map(({ change }) => change.path)];
  // What is known to be old or new is in its place by now, or in the journal: so is what another recovery put aside.
  const kept = new Set(
    changes.flatMap(({ change: { before, after } }) => [before ?? [], after ?? []].flat()),
  );
  for (const directory of new Set(paths.map((path) => dirname(path)))) {
    sandbox.sweep(directory, worker.pid, kept);
  }
}
