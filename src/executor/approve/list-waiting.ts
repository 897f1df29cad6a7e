import { isFilledText, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { ApprovalRequest } from '../../contract/approval.js';
import type { ConversationMemory } from '../../contract/context.js';
import type { WaitingOptions } from '../../contract/executor.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import type { WaitingBatch } from '../../contract/open-batch.js';
import { describeEffects, riskOfEffects, uncontained } from '../../effects/traits.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../journal/redaction/left-out.js';
import { summarizeText } from '../../output/clean-output.js';
import { reasonOf } from '../answer/results.js';
import type { ExecutorSettings } from '../call/settings.js';
import { planCall } from '../plan/plan-call.js';
import { withOrigins } from '../record/conversation-origins.js';
import { snapshotSince } from './approve-batch.js';
import { askedAgain, toQuestion } from './ask-approval.js';
import { LEFT_OUT_REMEDY } from './find-deferred.js';
import { askedTicket, readAsked, type TicketRound } from './ticket.js';

const RULES: OptionRules<{ [K in keyof WaitingOptions]-?: WaitingOptions[K] | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
};

/**
 * Lists the batches that wait for approval, with the requests for the person, from whichever process deferred
 * them; the longest wait first. Changes nothing: calls are planned again, and `onDecision` is not called.
 * @throws ToolError `config_invalid` for a wrong option, `journal_unavailable`.
 */
export async function listWaiting(
  options: WaitingOptions,
  settings: ExecutorSettings,
  memoryOf: (conversation: string) => ConversationMemory,
): Promise<readonly WaitingBatch[]> {
  const { conversation } = normalizeOptions('options', options, RULES);
  const { journal } = settings;
  if (journal === null) return [];
  // Waiting batches are shown in every mode, because an executor that runs calls deferred them.
  const planning: ExecutorSettings = { ...settings, mode: 'enabled', onDecision: undefined };
  const waiting = await journal.batches({
    waiting: true,
    ...(conversation === undefined ? {} : { conversation }),
  });
  const found: WaitingBatch[] = [];
  for (const { id, conversation: name } of waiting.toReversed()) {
    const decisions = await journal.decisions(id);
    const last = decisions.at(-1);
    // If an approval did not complete, the wait counts from its first start.
    const first = decisions.find(({ kind, data }) => kind === 'wait' && data.why === 'approval');
    // The batch may have been decided since it was listed. A batch that a crash left half done is listed by
    // recover().
    if (last?.kind !== 'wait' || last.data.why !== 'approval') continue;
    const round = (await readAsked(journal, id))?.state.rounds.at(-1);
    // The person has decided, but the program that asked has not run the call yet.
    if (round?.decided !== undefined) continue;
    const requests: ApprovalRequest[] = [];
    const informed = await withOrigins(planning, memoryOf(name));
    for (const record of await askedCalls(journal, id)) {
      requests.push(await requestOf(record, round, informed));
    }
    if (requests.length === 0) continue;
    found.push({
      batchId: id,
      conversation: name,
      since: new Date(first?.at ?? last.at).toISOString(),
      requests,
      ...(round === undefined ? {} : { ticket: askedTicket(id, round.secret) }),
    });
  }
  return found;
}

/** The calls that the person is asked about. If only a review wanted the question, all open calls. */
async function askedCalls(journal: Journal, batchId: string): Promise<readonly CallRecord[]> {
  const calls = await journal.batch(batchId);
  const open = calls.filter((call) => call.batchId === batchId && call.result === undefined);
  const asked = open.filter(({ disposition }) => disposition === 'requires_confirmation');
  return asked.length > 0 ? asked : open;
}

/** @param round present for a ticket: another program runs the call, with its own tools and policy. */
async function requestOf(
  record: CallRecord,
  round: TicketRound | undefined,
  settings: ExecutorSettings,
): Promise<ApprovalRequest> {
  const { callId: id, toolName: name, args } = record;
  if (hasLeftOut(args)) return fromRecord(record, `${LEFT_OUT_OF_JOURNAL}. ${LEFT_OUT_REMEDY}`);
  try {
    const evaluated = await planCall({ id, name, args }, { index: 0, duplicate: false }, settings);
    if (evaluated.kind === 'resolved')
      return fromRecord(record, round === undefined ? evaluated.reason : undefined);
    const { asked, changed } = await snapshotSince(evaluated, record.key, { settings, deferred: undefined });
    const { changed: before = [] } = round ?? {};
    const isRepeated = changed.length === 0 && before.length > 0;
    const again = isRepeated ? askedAgain(asked.ready, asked.snapshot, before) : asked;
    return await toQuestion(again, settings);
  } catch (error) {
    return fromRecord(record, reasonOf(error));
  }
}

/**
 * The request for a call that could not run now: its tool is gone, or its arguments or the policy have
 * changed.
 */
function fromRecord(record: CallRecord, refusal: string | undefined): ApprovalRequest {
  const { callId, toolName, args, effects, reason } = record;
  return {
    callId,
    toolName,
    summary: summarizeText(describeEffects(toolName, effects)),
    risk: riskOfEffects(effects),
    containment: uncontained(effects),
    args,
    effects,
    shown: [],
    reason:
      refusal === undefined ? reason : `${reason.replace(/[.]+$/, '')}. It would be refused now: ${refusal}`,
  };
}
