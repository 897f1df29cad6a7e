import type { ToolResult } from '../../contract/call.js';
import type { CallRecord, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { failure } from '../answer/results.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { RecoverySettings } from '../call/settings.js';
import type { InspectedIntent } from './inspect-change.js';
import { type RecoveredChanges, recoveredChanges } from './recover-transactions.js';
import type { Verdict } from './run-probe.js';

/** All facts known about a call whose process is dead. */
export interface RecoveredOutcome {
  readonly record: CallRecord;
  readonly verdict: Verdict;
  /** Undefined: the call's tool no longer exists. */
  readonly ready: ReadyCall | undefined;
  readonly notes: readonly JournalNote[];
  readonly inspected: InspectedIntent | undefined;
}

/** The result for a call whose process is dead. */
export function toRecoveredResult(
  settlement: RecoveredOutcome,
  settings: Pick<RecoverySettings, 'isProcessAlive'>,
): ToolResult {
  const { record, verdict } = settlement;
  const { callId, toolName, worker } = record;
  const evidence = evidenceOf(settlement, settings);
  const settledBy = verdict === 'unknown' ? 'recovery' : 'probe';
  const settled = recoveredChanges(settlement.notes);
  const changes = settled === undefined ? {} : { changes: settled.changes };
  const metadata = {
    ...{ recovered: true, settled_by: settledBy, worker_pid: worker?.pid ?? null, evidence },
    ...changes,
  };
  const call = { id: callId, name: toolName };
  const unmade = unmadeCode(settled?.settled, verdict);
  if (unmade !== undefined) {
    const executed = verdict === 'applied' ? 'yes' : verdict === 'unknown' ? 'maybe' : 'no';
    return failure(call, unmade, unmadeMessage(toolName, unmade, verdict), executed, { metadata });
  }
  if (verdict === 'not_applied') {
    const message = `${toolName} had not taken effect when its process died: settled by probe. Nothing was changed.`;
    return failure(call, 'cancelled', message, 'no', { metadata });
  }
  if (verdict === 'unknown') {
    const message =
      `The process that ran ${toolName} (pid ${worker?.pid}) died meanwhile: it is not known whether it took effect. ` +
      'Look before you repeat it.';
    return failure(call, 'outcome_unknown', message, 'maybe', { metadata });
  }
  const exitCode = failedWith(settlement);
  if (exitCode !== undefined) {
    const message = `${toolName} had ended with exit code ${exitCode} when its process died: settled by probe. What it printed is lost.`;
    return failure(call, 'execution_failed', message, 'yes', { metadata });
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

/** The error code if some changes were not made; undefined if all were made, or there were none to make. */
function unmadeCode(
  settled: RecoveredChanges | undefined,
  verdict: Verdict,
): 'conflict' | 'execution_failed' | undefined {
  if (settled === 'conflict') return 'conflict';
  const isUnmade = settled === 'partly' || (settled === 'none' && verdict !== 'not_applied');
  return isUnmade ? 'execution_failed' : undefined;
}

function unmadeMessage(toolName: string, code: 'conflict' | 'execution_failed', verdict: Verdict): string {
  const why =
    code === 'conflict'
      ? 'another program has changed the same files'
      : 'the system has refused some of them';
  const begin = `The process that ran ${toolName} died while its changes were committed, and ${why}`;
  if (verdict === 'not_applied') return `${begin}: none of them was kept. Nothing was changed.`;
  return `${begin}: some of them were made: metadata.changes lists them. Look at the files before you repeat it.`;
}

/** The failing exit code of the command or program, if running it was all that the call did. */
function failedWith({ ready, notes }: RecoveredOutcome): number | undefined {
  if (ready === undefined || !isOneProcess(ready)) return undefined;
  const codes = notes.flatMap(({ kind, data: { exitCode } }) =>
    kind === 'process' && typeof exitCode === 'number' ? [exitCode] : [],
  );
  return codes.findLast((code) => code !== 0);
}

function isOneProcess({ tool, declared }: ReadyCall): boolean {
  if (tool.program !== undefined) return true;
  return declared.length > 0 && declared.every(({ kind }) => kind === 'run');
}

function evidenceOf(
  { notes, inspected }: RecoveredOutcome,
  { isProcessAlive }: Pick<RecoverySettings, 'isProcessAlive'>,
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
