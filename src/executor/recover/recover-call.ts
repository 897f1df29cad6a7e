import { dirname, isAbsolute } from 'node:path';
import type { ToolResult } from '../../contract/call.js';
import type { RestoredFile, RestoreOptions, Sandbox } from '../../contract/files.js';
import type { CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import { parseEffects } from '../../effects/parse-effects.js';
import { isAllReads, uncontained } from '../../effects/traits.js';
import { isToolError } from '../../errors/tool-error.js';
import { hasLeftOut } from '../../journal/redaction/left-out.js';
import { failure, notRun } from '../answer/results.js';
import { recordedCall } from '../call/calls.js';
import { ReadyCall } from '../call/evaluated-call.js';
import type { RecoverySettings } from '../call/settings.js';
import { compiledTool } from '../declare/compiled-tool.js';
import { freezeParsed } from '../plan/freeze-parsed.js';
import { placeEffects } from '../plan/place-effects.js';
import { recordReceived } from '../receive/record-received.js';
import { RECEIVE, readStream } from '../receive/stream-record.js';
import { readIntent } from '../record/noted-change.js';
import { transactionsIn } from '../record/noted-transactions.js';
import { readUndoNote, type UndoNote, undoneBy } from '../undo/undo-note.js';
import { type InspectedChange, type InspectedIntent, inspectIntent, verdictOf } from './inspect-change.js';
import { recoverTransactions } from './recover-transactions.js';
import { toRecoveredResult } from './recovered-result.js';
import { runProbe, type Verdict } from './run-probe.js';

/**
 * The answer to a call whose process is dead (D109). A call that never started is `cancelled`; a started call
 * is `outcome_unknown`, unless its tool can find out. A half-made change of several files is first rolled
 * back. No call runs again.
 */
export async function recoverCall(record: CallRecord, settings: RecoverySettings): Promise<ToolResult> {
  if (record.worker === undefined) return neverStarted(record);
  const { journal } = settings;
  // Notes contain canonical paths, whatever paths callers may use.
  const inside = { ...settings, sandbox: settings.sandbox.byCanonicalPath() };
  const noted = (await journal?.notes(record.key)) ?? [];
  const notes = await recoverTransactions(noted, inside);
  const inspected = await inspectLastIntent(record, notes, inside);
  const undo = readUndoNote(notes);
  const ready = undo === undefined ? await reviveCall(record, notes, inside) : undefined;
  const lastChange = inspected === undefined ? 'not_applied' : lastChangeOf(inspected.changes);
  // An undo changes only files, so their states show its outcome and no probe is needed.
  const asked = ready === undefined ? 'unknown' : await runProbe(ready, { notes, lastChange }, inside);
  const verdict = undo === undefined ? asked : undoVerdict(undo, notes, lastChange);
  // If files are neither old nor new, a leftover beside them may be the only copy of the old content, so
  // nothing is removed. For an undo it is safe, because the journal keeps the replaced contents.
  if (lastChange !== 'unknown' || undo !== undefined) sweep(record, inspected, ready, inside);
  // Only in this case are the new directories empty.
  if (lastChange === 'not_applied') {
    await setDirectories({ tidy: [...(inspected?.made ?? []), ...(undo?.makes ?? [])] }, inside);
  }
  if (undo !== undefined && verdict === 'applied') await completeUndo(record, undo, inside);
  return toRecoveredResult({ record, verdict, ready, notes, inspected }, settings);
}

/**
 * An undo consists only of file changes, including those of transactions, so its verdict follows from them.
 */
function undoVerdict({ last, parts }: UndoNote, notes: readonly JournalNote[], lastChange: Verdict): Verdict {
  const intents = notes.flatMap(({ kind, data }) => (kind === 'intent' ? [readIntent(data)] : []));
  const isMade = transactionsIn(notes).some(({ state }) => state === 'committed');
  // The files show only whether its last part was undone.
  if (parts > 1)
    return isMade || intents.length > 1 || lastChange !== 'not_applied' ? 'unknown' : 'not_applied';
  if (last !== undefined) {
    const isLastStep = intents.at(-1)?.changes.some(({ path }) => path === last) === true;
    if (isLastStep !== (lastChange === 'applied')) return 'unknown';
  }
  return isMade && lastChange === 'not_applied' ? 'applied' : lastChange;
}

function neverStarted(record: CallRecord): ToolResult {
  const { effects, acceptedBy } = record;
  const who = acceptedBy === undefined ? '' : ` (pid ${acceptedBy.pid})`;
  // A call that only reads has no start record. In both cases it has changed nothing.
  const message =
    effects.length > 0 && isAllReads(effects)
      ? `Its process${who} died before it was answered. It only reads: nothing was changed.`
      : `It was never started: its process${who} died before.`;
  const metadata = { recovered: true, settled_by: 'recovery' };
  return failure({ id: record.callId, name: record.toolName }, 'cancelled', message, 'no', { metadata });
}

/** Only the last change can have been interrupted: earlier ones were completed or given up. */
async function inspectLastIntent(
  { key }: CallRecord,
  notes: readonly JournalNote[],
  { journal, sandbox }: RecoverySettings,
): Promise<InspectedIntent | undefined> {
  const intents = notes.flatMap(({ kind, data }) => (kind === 'intent' ? [readIntent(data)] : []));
  const last = intents.at(-1);
  if (last === undefined) return undefined;
  const { made } = last;
  const changes = inspectIntent(last, sandbox);
  if (last.op !== 'writeAll' || verdictOf(changes) !== 'mixed' || journal === null) {
    return { changes, made, rolledBack: false };
  }
  // Another process may have recovered this call already, and later work may have changed the files.
  if ((await journal.call(key))?.state === 'done') return { changes, made, rolledBack: false };
  const rolledBack = await rollBack(changes, sandbox, journal);
  return { changes: inspectIntent(last, sandbox), made, rolledBack };
}

/**
 * Removes directories that were created for files that were never written, if those directories are empty, and creates
 * missing ones.
 */
async function setDirectories(
  directories: Pick<RestoreOptions, 'make' | 'tidy'>,
  { sandbox, logger }: RecoverySettings,
): Promise<void> {
  try {
    await sandbox.restore([], directories);
  } catch (error) {
    logger.warn({ why: String(error) }, 'empty directories could not be put right');
  }
}

/** Completes the remaining steps of an undo whose process died. */
async function completeUndo(
  { callId }: CallRecord,
  { of, make, tidy }: UndoNote,
  settings: RecoverySettings,
): Promise<void> {
  await setDirectories({ make, tidy }, settings);
  await settings.journal?.note(of, undoneBy(callId, settings.clock.now()));
}

function lastChangeOf(changes: readonly InspectedChange[]): Verdict {
  const verdict = verdictOf(changes);
  return verdict === undefined || verdict === 'mixed' ? 'unknown' : verdict;
}

/** Removes the temporary files that the dead process left beside the files it was changing. */
function sweep(
  { worker, effects }: CallRecord,
  inspected: InspectedIntent | undefined,
  ready: ReadyCall | undefined,
  { sandbox }: RecoverySettings,
): void {
  if (worker === undefined) return;
  const changes = inspected?.changes ?? [];
  const declared = (ready?.effects ?? []).flatMap(({ effect: { kind }, at }) =>
    at !== undefined && (kind === 'write' || kind === 'delete') ? [at] : [],
  );
  // An undo has no tool. Its effects name files by canonical path.
  const own =
    ready === undefined ? effects.flatMap((effect) => (effect.kind === 'write' ? [effect.path] : [])) : [];
  const paths = [...declared, ...own.filter(isAbsolute), ...changes.map(({ change }) => change.path)];
  // By now, contents known as old or new are in place or in the journal. The same is true for contents that another
  // recovery set aside.
  const kept = new Set(
    changes.flatMap(({ change: { before, after } }) => [before ?? [], after ?? []].flat()),
  );
  for (const directory of stagingDirectories(paths, inspected?.made ?? [], sandbox)) {
    sandbox.sweep(directory, worker.pid, kept);
  }
}

/**
 * The directories where new contents were first written: beside the files, or in the deepest directory that
 * existed before.
 */
function stagingDirectories(
  paths: readonly string[],
  made: readonly string[],
  sandbox: Sandbox,
): ReadonlySet<string> {
  const directories = new Set<string>();
  for (const path of paths) {
    let at = dirname(path);
    directories.add(at);
    while (at !== dirname(at) && (made.includes(at) || isMissing(at, sandbox))) {
      at = dirname(at);
      directories.add(at);
    }
  }
  return directories;
}

/** False also if the path may not be examined. */
function isMissing(path: string, sandbox: Sandbox): boolean {
  try {
    return sandbox.examine(path).kind === 'none';
  } catch (error) {
    if (isToolError(error)) return false;
    throw error;
  }
}

export function isStream({ toolName, worker }: CallRecord): boolean {
  return toolName === RECEIVE && worker === undefined;
}

/**
 * Ends a response that was interrupted (D086, D142). The calls that had arrived become a batch of which no
 * call was started.
 * @returns the batch's id if it was recorded now; undefined if there was nothing to record; false if the
 * record is an ordinary call
 */
export async function recoverStream(
  record: CallRecord,
  journal: Journal,
  settings: RecoverySettings,
): Promise<string | undefined | false> {
  const notes = await journal.notes(record.key);
  const stream = readStream(record, notes);
  if (stream === undefined) return false;
  const who = record.acceptedBy === undefined ? '' : ` (pid ${record.acceptedBy.pid})`;
  const message = `It was never started: its process${who} died while the response was still coming in.`;
  const metadata = { recovered: true, settled_by: 'recovery' };
  const results = stream.calls.map((call) => notRun(call, 'cancelled', message, {}, metadata));
  const isNew = await recordReceived(journal, settings, { ...stream, results });
  const ended = failure({ id: record.callId, name: RECEIVE }, 'cancelled', message, 'no', { metadata });
  await journal.finish(record.key, ended, settings.clock.now(), 'queued');
  return isNew ? stream.id : undefined;
}

/**
 * Rolls back a half-made change of several files: all of them, or none. Only files that are exactly as the
 * change left them are touched. Returns false if a rollback is not possible.
 * @param sandbox a sandbox that takes canonical paths
 */
async function rollBack(
  inspected: readonly InspectedChange[],
  sandbox: Sandbox,
  journal: Journal,
): Promise<boolean> {
  const files: RestoredFile[] = [];
  for (const { change, state } of inspected) {
    if (state !== 'after') continue;
    const { path, before, after, beforeMode, beforeKind, beforeOwner, preimage } = change;
    if (beforeKind !== undefined) return false;
    const bytes = before === null ? null : preimage === undefined ? undefined : await journal.kept(preimage);
    if (bytes === undefined) return false;
    files.push({
      path,
      bytes,
      expectedSha256: after,
      ...(beforeMode === undefined ? {} : { mode: beforeMode }),
      ...(beforeOwner === undefined ? {} : { owner: beforeOwner }),
    });
  }
  try {
    await sandbox.restore(files);
    return true;
  } catch {
    // Another process has changed one of the files, perhaps with the same rollback. The caller examines them
    // again.
    return false;
  }
}

/**
 * Plans a recorded call again, with the approved arguments. Undefined if the tool no longer exists or no
 * longer accepts these arguments.
 */
async function reviveCall(
  record: CallRecord,
  notes: readonly JournalNote[],
  settings: RecoverySettings,
): Promise<ReadyCall | undefined> {
  const tool = settings.registry.find(record.toolName);
  if (tool === undefined) return undefined;
  const args = approvedArguments(notes) ?? record.args;
  // Without the left-out arguments, a probe would look in the wrong place.
  if (hasLeftOut(args)) return undefined;
  try {
    const checked = await compiledTool(tool).input.check(args);
    if (!checked.ok) return undefined;
    const parsed = freezeParsed(checked.value);
    const declared = declare(tool, parsed, settings);
    const { effects } = placeEffects(declared, settings);
    return new ReadyCall({
      call: { ...recordedCall(record), args },
      tool,
      parsed,
      declared,
      effects,
      risk: 'high',
      containment: uncontained(declared),
      needsApproval: false,
      toolRequiresApproval: false,
      mayAskAfter: false,
      writesThrough: false,
      reason: record.reason,
    });
  } catch {
    return undefined;
  }
}

/** A person may have changed the arguments. */
function approvedArguments(notes: readonly JournalNote[]): JsonObject | undefined {
  const approval = notes.findLast(({ kind, data }) => kind === 'approval' && data.approved === true);
  const args = approval?.data.args;
  return isJsonObject(args) ? args : undefined;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function declare(tool: Tool, parsed: unknown, { sandbox, limits }: RecoverySettings): ReadyCall['declared'] {
  if (tool.effects === undefined) return parseEffects([{ kind: 'unknown' }]);
  return parseEffects(tool.effects(parsed, { cwd: sandbox.cwd, limits }));
}

/**
 * Whether a started call has changed files outside these roots, for example a call of another directory that
 * shares the journal. Only a process that can read those files may recover the call, because its first answer
 * is final.
 */
export async function liesElsewhere(
  { key, worker }: CallRecord,
  journal: Journal,
  { sandbox }: Pick<RecoverySettings, 'sandbox'>,
): Promise<boolean> {
  if (worker === undefined) return false;
  const inside = sandbox.byCanonicalPath();
  const isOutside = ({ path }: { readonly path: string }): boolean => {
    try {
      inside.resolve(path, 'delete');
      return false;
    } catch (error) {
      return isToolError(error, 'sandbox_violation') && error.details?.reason === 'PathOutsideSandbox';
    }
  };
  const notes = await journal.notes(key);
  return notes.some(
    ({ kind, data }) => kind === 'intent' && readIntent(data)?.changes.some(isOutside) === true,
  );
}
