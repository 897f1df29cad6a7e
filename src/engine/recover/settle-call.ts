import { dirname } from 'node:path';
import type { CallRecord, JournalNote, Worker } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { ToolResult } from '../../contract/result.js';
import { isAllReads } from '../effects/traits.js';
import type { ReadyCall } from '../plan/judged-call.js';
import { failure } from '../record/results.js';
import type { EngineSettings } from '../settings.js';
import { type InspectedChange, inspectIntent, verdictOf } from './inspect-change.js';
import { readIntent } from './noted-change.js';
import { reviveCall } from './revive-call.js';
import { rollBack } from './roll-back.js';
import { runProbe, type Verdict } from './run-probe.js';

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
  const ready = await reviveCall(record, notes, inside);
  const lastChange = inspected === undefined ? 'not_applied' : lastChangeOf(inspected.changes);
  const verdict = ready === undefined ? 'unknown' : await runProbe(ready, { notes, lastChange }, inside);
  // Where files are neither old nor new, what was left beside them may be all there is of the old.
  if (lastChange !== 'unknown') {
    sweep(record.worker, directoriesOf(inspected?.changes ?? [], ready), inside);
  }
  return toResult(record, verdict, evidenceOf(notes, inspected, settings));
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

interface Inspected {
  readonly changes: readonly InspectedChange[];
  readonly rolledBack: boolean;
}

/** Only the last change can have been under way: those before it were made, or given up. */
async function inspectLastIntent(
  { key }: CallRecord,
  notes: readonly JournalNote[],
  { journal, sandbox }: EngineSettings,
): Promise<Inspected | undefined> {
  const intents = notes.flatMap(({ kind, data }) => (kind === 'intent' ? [readIntent(data)] : []));
  const last = intents.at(-1);
  if (last === undefined) return undefined;
  const changes = await inspectIntent(last, sandbox.files);
  if (last.op !== 'writeAll' || verdictOf(changes) !== 'mixed' || journal === null) {
    return { changes, rolledBack: false };
  }
  // Another process may have settled it: then what the files are now is somebody else's doing.
  if ((await journal.call(key))?.state === 'done') return { changes, rolledBack: false };
  const rolledBack = await rollBack(changes, sandbox.files, journal);
  return { changes: await inspectIntent(last, sandbox.files), rolledBack };
}

function lastChangeOf(changes: readonly InspectedChange[]): Verdict {
  const verdict = verdictOf(changes);
  return verdict === undefined || verdict === 'mixed' ? 'unknown' : verdict;
}

function directoriesOf(
  inspected: readonly InspectedChange[],
  ready: ReadyCall | undefined,
): ReadonlySet<string> {
  const declared = (ready?.effects ?? []).flatMap(({ effect: { kind }, at }) =>
    at !== undefined && (kind === 'write' || kind === 'delete') ? [at] : [],
  );
  return new Set([...declared, ...inspected.map(({ change }) => change.path)].map((path) => dirname(path)));
}

function sweep({ pid }: Worker, directories: ReadonlySet<string>, { sandbox }: EngineSettings): void {
  for (const directory of directories) sandbox.sweep(directory, pid);
}

function evidenceOf(
  notes: readonly JournalNote[],
  inspected: Inspected | undefined,
  { isProcessAlive }: EngineSettings,
): JsonObject {
  const files = inspected?.changes.map(({ change: { path, before, after }, state }) => ({
    path,
    state,
    before,
    after,
  }));
  const processes = new Map<number, JsonObject>();
  for (const { kind, data } of notes) {
    const { pid, startTicks, exitCode } = data;
    if (kind !== 'process' || typeof pid !== 'number') continue;
    const ticks = typeof startTicks === 'number' ? startTicks : undefined;
    const known = processes.get(pid) ?? { pid, running: isProcessAlive(pid, ticks) };
    processes.set(pid, exitCode === undefined ? known : { ...known, running: false, exit_code: exitCode });
  }
  return {
    ...(files === undefined ? {} : { files }),
    ...(inspected?.rolledBack === true ? { rolled_back: true } : {}),
    ...(processes.size === 0 ? {} : { processes: [...processes.values()] }),
  };
}

function toResult(record: CallRecord, verdict: Verdict, evidence: JsonObject): ToolResult {
  const { callId, toolName, worker } = record;
  const settledBy = verdict === 'unknown' ? 'recovery' : 'probe';
  const metadata = { recovered: true, settled_by: settledBy, worker_pid: worker?.pid ?? null, evidence };
  const call = { id: callId, name: toolName };
  if (verdict === 'not_applied') {
    const message = `${toolName} had not taken effect when its process died: settled by probe. Nothing was changed.`;
    return failure(call, 'cancelled', message, 'no', { metadata });
  }
  if (verdict === 'unknown') {
    const message =
      `The process that ran ${toolName} (pid ${worker?.pid}) died meanwhile: nobody can say whether it took effect. ` +
      'Look before you repeat it.';
    return failure(call, 'outcome_unknown', message, 'maybe', { metadata });
  }
  return {
    callId,
    toolName,
    success: true,
    output: `${toolName} had taken effect when its process died: settled by probe. What it printed is lost.`,
    truncated: false,
    executionTimeMs: 0,
    metadata,
  };
}
