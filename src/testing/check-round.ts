import type { ToolResult } from '../contract/call.js';
import type { CallRecord } from '../contract/journal.js';
import type { CrashProblem, CrashProblemKind } from './crash-trial.js';
import type { RoundFindings, TrialSetting } from './play-round.js';
import { describeKillPoint, type KillPoint } from './play-round.js';

/** The problems of one round. */
export function checkRound(
  setting: TrialSetting,
  point: KillPoint,
  findings: RoundFindings,
): readonly CrashProblem[] {
  const killed = describeKillPoint(point);
  const problems: CrashProblem[] = [];
  const report: Report = (kind, message, callId) => {
    problems.push({ kind, killed, message, ...(callId === undefined ? {} : { callId }) });
  };
  if (findings.broken !== undefined)
    report('broken_round', `The process did not run the batch: ${findings.broken}`);
  if (!findings.verification.intact) report('broken_journal', findings.verification.reason);
  checkAcknowledged(findings, report);
  for (const record of findings.settled) checkRecord(setting, findings, record, report);
  checkAnswers(setting, findings, report);
  checkEffects(findings, report);
  return problems;
}

type Report = (kind: CrashProblemKind, message: string, callId?: string) => void;

/** Every record that the journal acknowledged must be there. */
function checkAcknowledged({ acknowledged, left }: RoundFindings, report: Report): void {
  const byKey = new Map(left.map((record) => [record.key, record]));
  for (const entry of acknowledged) {
    if (entry.op === 'keep' || entry.op === 'other') continue;
    for (const key of entry.op === 'accept' ? entry.keys : [entry.key]) {
      const record = byKey.get(key);
      if (record === undefined)
        report('lost_record', `The journal had acknowledged call ${key}, and knows nothing of it.`);
      else if (entry.op === 'claim' && record.startedAt === undefined)
        report(
          'lost_record',
          'The journal had acknowledged the claim, and knows nothing of it.',
          record.callId,
        );
      else if (entry.op === 'finish' && !isSame(record.result, entry.result))
        report(
          'lost_record',
          'The journal had acknowledged a result, and holds another or none.',
          record.callId,
        );
    }
  }
}

function checkRecord(
  { trial }: TrialSetting,
  { left, recoveredAgain }: RoundFindings,
  record: CallRecord,
  report: Report,
): void {
  const { callId, result } = record;
  if (result === undefined) {
    report('no_result', `It is still ${record.state} after recovery.`, callId);
    return;
  }
  const before = left.find(({ key }) => key === record.key);
  if (before?.result !== undefined && !isSame(before.result, result))
    report('changed_result', 'Recovery has changed a result that was recorded.', callId);
  const again = recoveredAgain.flatMap(({ calls }) => calls).find((call) => call.callId === callId);
  if (again !== undefined && !isSame(again.result, result))
    report('changed_result', 'A second recovery has settled it otherwise.', callId);
  if (result.error?.code !== 'outcome_unknown') return;
  if (before !== undefined && before.startedAt === undefined)
    report('needless_unknown', 'It was never started, and its outcome is said to be unknown.', callId);
  if (trial.knowable?.includes(callId) === true)
    report('needless_unknown', `It could have been known: ${result.error.message}`, callId);
}

/** A repeated delivery is answered from the record. */
function checkAnswers({ calls }: TrialSetting, { settled, delivered }: RoundFindings, report: Report): void {
  for (const [index, { id }] of calls.entries()) {
    const answer = delivered[index];
    if (answer === undefined) {
      report('no_result', 'It has no answer when it is delivered again.', id);
      continue;
    }
    const recorded = settled.find(({ callId }) => callId === id)?.result;
    if (recorded !== undefined && !isSame(recorded, unmarked(answer)))
      report('changed_result', 'It is answered otherwise when it is delivered again.', id);
  }
}

function unmarked(answer: ToolResult): ToolResult {
  const { replayed: _, ...metadata } = answer.metadata;
  return { ...answer, metadata };
}

function checkEffects(findings: RoundFindings, report: Report): void {
  const { settled, delivered, observed, observedLater } = findings;
  for (const [callId, count] of Object.entries(observed)) {
    const recorded = settled.find((record) => record.callId === callId)?.result;
    // It was killed before the record, so nothing may have happened.
    const said = recorded === undefined ? NOT_RUN : whatItSays(recorded);
    checkEffect(callId, count, said, report);
  }
  for (const [callId, count] of Object.entries(observedLater)) {
    const answer = delivered.find((result) => result.callId === callId);
    if (answer !== undefined) checkEffect(callId, count, whatItSays(answer), report);
  }
}

interface Said {
  readonly happened: 'no' | 'yes' | 'maybe';
  readonly text: string;
}

const NOT_RUN: Said = { happened: 'no', text: 'there is no record of it' };

function whatItSays(result: ToolResult): Said {
  if (result.success) return { happened: 'yes', text: 'its result is a success' };
  const { executed } = result.error.details ?? {};
  const text = `its result is ${result.error.code}, executed: ${String(executed)}`;
  // It ran and failed, so its progress is not checked.
  return { happened: executed === 'no' ? 'no' : 'maybe', text };
}

function checkEffect(callId: string, count: number, said: Said, report: Report): void {
  if (!Number.isInteger(count))
    report('half_done', `Its effect is half done (${count}), and ${said.text}.`, callId);
  else if (count > 1)
    report('ran_twice', `Its effect has happened ${count} times, and ${said.text}.`, callId);
  else if (count === 0 && said.happened === 'yes')
    report('untrue_result', `Its effect has not happened, and ${said.text}.`, callId);
  else if (count === 1 && said.happened === 'no')
    report('untrue_result', `Its effect has happened, and ${said.text}.`, callId);
}

function isSame(one: ToolResult | undefined, other: ToolResult): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
