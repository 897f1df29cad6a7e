import type { ApprovalDecision } from '../../contract/approval.js';
import type { CallKey, CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';
import { hashArguments } from '../../schema/freeze-arguments.js';
import { notRun } from '../answer/results.js';
import { hint } from '../record/hint.js';
import { deniedMessage } from './ask-approval.js';
import { answerIn } from './decision.js';
import { alreadyDecided, type FoundBatch, findWaiting } from './find-deferred.js';

/** A call of a placed batch, waiting for the person. */
export interface PlacedQuestion {
  readonly record: CallRecord;
  /** Binds a decision to these arguments. */
  readonly argsHash: string;
  /** The worker's record of its evaluation of the call. If absent: no worker has evaluated it. */
  readonly asked?: JsonObject;
}

/** A decision from outside: approved calls, by id, with the arguments that count. */
export interface PlacedDecision {
  readonly decision: ApprovalDecision;
  /** By call id: the `argsHash` that the person was shown. A decision about other arguments is refused. */
  readonly hashes?: Readonly<Record<string, string>>;
}

interface DecisionContext {
  readonly journal: Journal;
  readonly now: () => number;
  /** Unique: notes count only together with the decision that names it. */
  readonly id: string;
  /** The decider, for the journal. */
  readonly by: string;
}

/**
 * The consent of a call, as its notes and the decisions about its batch record it. Notes are written before the
 * decision that they belong to, and if several processes decide, only one decision counts, and the notes of the others
 * are ignored. A note without a decision is the consent of a host. If a question is asked again because files have
 * changed, earlier consent ends.
 */
export async function readConsentNote(
  { key, batchId, decision }: Pick<CallRecord, 'key' | 'batchId' | 'decision'>,
  journal: Journal,
): Promise<JournalNote | undefined> {
  const all = await journal.notes(key);
  const asked = all.findLastIndex(({ kind }) => kind === 'asked');
  const notes = all.slice(asked + 1).filter(({ kind }) => kind === 'approval');
  const isNamed = notes.some(({ data }) => data.decision !== undefined);
  if (!isNamed) return notes.at(-1);
  const decisions = decision === undefined ? [] : await journal.decisions(batchId);
  const counted = decisions.flatMap(({ kind, data }) => (kind === 'resume' ? [data.decision] : []));
  return notes.findLast(({ data }) => data.decision === undefined || counted.includes(data.decision));
}

/** The calls of a waiting batch that need a decision, in order. */
export async function placedQuestions(
  journal: Journal,
  { id, calls }: Pick<FoundBatch, 'id' | 'calls'>,
): Promise<readonly PlacedQuestion[]> {
  const questions: PlacedQuestion[] = [];
  for (const record of calls) {
    const isOpen = record.batchId === id && record.state === 'queued';
    if (!isOpen || record.disposition !== 'requires_confirmation') continue;
    if ((await readConsentNote(record, journal)) !== undefined) continue;
    const asked = (await journal.notes(record.key)).findLast(({ kind }) => kind === 'asked')?.data;
    const argsHash = hashArguments(record.args);
    questions.push({ record, argsHash, ...(asked === undefined ? {} : { asked }) });
  }
  return questions;
}

/**
 * Decides a batch that waits for approval and that workers run. The decision is recorded for each call together with
 * its arguments; a worker starts no call without it. Denied calls are answered.
 * @throws ToolError `unknown_batch`, `already_decided`; `bad_args` for a batch that does not wait for approval or that
 * no worker runs, for an unknown call id, or for arguments that the person was not shown
 */
export async function decidePlaced(
  batchId: string,
  given: PlacedDecision,
  { journal, now, id, by }: DecisionContext,
): Promise<void> {
  const found = await findWaiting(journal, batchId, 'decide about');
  if (found.waitsFor !== 'approval')
    throw wrong(batchId, 'it was left half done. Recover it where its journal is.');
  if (found.calls.every(({ placement }) => placement === undefined))
    throw wrong(batchId, 'no worker runs its calls. Approve it where its tools are: toolexec approve.');
  const questions = await placedQuestions(journal, found);
  requireKnown(batchId, given, questions);
  const at = now();
  const denied: (readonly [CallKey, string | undefined, CallRecord])[] = [];
  for (const { record, argsHash } of questions) {
    const answer = answerIn(given.decision, record.callId);
    const data: JsonObject = answer.approved
      ? { approved: true, by, decision: id, ...argumentsOf(answer.args, record, argsHash) }
      : {
          approved: false,
          by,
          decision: id,
          ...(answer.reason === undefined ? {} : { reason: answer.reason }),
        };
    await journal.note(record.key, { kind: 'approval', data, at });
    if (!answer.approved) denied.push([record.key, answer.reason, record]);
  }
  const counts = await journal.decide(found.id, {
    kind: 'resume',
    at,
    data: { why: 'approval', by, decision: id },
  });
  if (!counts) throw alreadyDecided(found.id, 'decide about', (await journal.decisions(found.id)).at(-1));
  hint(
    journal,
    questions.map(({ record }) => record.key),
  );
  for (const [key, reason, record] of denied)
    await journal.finish(key, deniedResult(record, reason), now(), 'queued');
}

/** The answer of a call that the person has denied. */
export function deniedResult({ callId, toolName }: Pick<CallRecord, 'callId' | 'toolName'>, reason?: string) {
  return notRun({ id: callId, name: toolName }, 'user_denied', deniedMessage(toolName, reason));
}

function argumentsOf(edit: JsonObject | undefined, { args }: CallRecord, argsHash: string): JsonObject {
  return edit === undefined ? { args, argsHash } : { args: edit, argsHash: hashArguments(edit) };
}

function requireKnown(
  batchId: string,
  { decision, hashes = {} }: PlacedDecision,
  questions: readonly PlacedQuestion[],
): void {
  const named = [
    ...Object.keys(hashes),
    ...(decision.kind === 'approve_selected'
      ? [decision.ids, Object.keys(decision.edits ?? {}), Object.keys(decision.reasons ?? {})].flat()
      : []),
  ];
  const unknown = named.find((id) => !questions.some(({ record }) => record.callId === id));
  if (unknown !== undefined)
    throw wrong(batchId, `no call ${JSON.stringify(unknown)} of it waits for approval.`);
  for (const { record, argsHash } of questions) {
    const shown = own(hashes, record.callId);
    if (shown !== undefined && shown !== argsHash)
      throw wrong(
        batchId,
        `the call ${JSON.stringify(record.callId)} has other arguments than those that were shown.`,
      );
  }
}

// Ids come from the model: a plain property access could find an inherited property.
function own<T>(record: Readonly<Record<string, T>> | undefined, id: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, id) ? record[id] : undefined;
}

function wrong(batchId: string, why: string): ToolError {
  return new ToolError('bad_args', `Cannot decide about batch "${batchId}": ${why}`, {
    details: { batchId },
  });
}
