import type { ApprovalDecision, ApprovalRequest, Approver } from '../../contract/approval.js';
import type { Awaitable, ToolCall } from '../../contract/call.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import type { EarlierDecision } from '../../contract/telemetry.js';
import { hasLeftOut } from '../../journal/redaction/left-out.js';
import { pending, refuseReady } from '../answer/refuse-ready.js';
import { nameOf } from '../answer/results.js';
import { type EvaluatedCall, NO_ARGS, type ResolvedCall } from '../call/evaluated-call.js';
import type { ExecutorSettings } from '../call/settings.js';
import { endDenied } from './decide-ticket.js';
import { approves } from './decision.js';
import { bindingOf, isSameCall, isSecret, type ParsedTicket, parseTicket, readAsked } from './ticket.js';

/** The approval that a ticket gives to the calls of a batch. */
export type Redeemed =
  /** No call runs; `answers` are their answers. */
  | { readonly kind: 'refused'; readonly answers: readonly ResolvedCall[] }
  /**
   * The calls run as without a ticket, with no person to ask. An earlier delivery is answered from the
   * journal.
   */
  | { readonly kind: 'plain'; readonly approver: Approver | null }
  /** The recorded call, with the person's decision about it. */
  | {
      readonly kind: 'decided';
      readonly batchId: string;
      readonly record: CallRecord;
      readonly approver: Approver;
      readonly decision: EarlierDecision;
    };

interface TicketUse {
  readonly conversation: string | undefined;
  readonly settings: ExecutorSettings;
  /** The call as planning and the reviewers leave it. */
  plan(call: ToolCall): Promise<EvaluatedCall>;
}

/**
 * Checks a ticket before any call runs. A ticket that does not match exactly is refused. Returns a promise only for
 * the ticket of a question, which is in the journal.
 */
export function redeemTicket(
  ticket: string,
  calls: readonly ToolCall[],
  use: TicketUse,
): Redeemed | Promise<Redeemed> {
  const { conversation, settings } = use;
  const [call] = calls;
  const refuse = (message: string): Redeemed => ({
    kind: 'refused',
    answers: calls.map((each, index) => refuseByTicket(each, index, message)),
  });
  if (call === undefined || calls.length > 1) return refuse('A ticket is for a single call.');
  const parsed = parseTicket(ticket);
  if (parsed === undefined) return refuse(UNKNOWN);
  if (parsed.kind === 'asked') return redeemAsked(parsed, call, { ...use, refuse });
  return conversation !== undefined && bindingOf(conversation, call) === parsed.binding
    ? plainRun(settings)
    : refuse(OTHER_CALL);
}

function plainRun({ approver }: ExecutorSettings): Redeemed {
  return { kind: 'plain', approver: approver === null ? null : noDecision };
}

interface Redeeming extends TicketUse {
  refuse(message: string): Redeemed;
}

async function redeemAsked(
  parsed: Extract<ParsedTicket, { kind: 'asked' }>,
  call: ToolCall,
  use: Redeeming,
): Promise<Redeemed> {
  const { settings, refuse } = use;
  const { journal, approver } = settings;
  const plain = plainRun(settings);
  const found = journal === null ? undefined : await readAsked(journal, parsed.batchId);
  if (journal === null || found === undefined) return refuse(UNKNOWN);
  const { record, state } = found;
  const round = state.rounds.find(({ secret }) => isSecret(parsed.secret, secret));
  if (round === undefined) return refuse(UNKNOWN);
  if (!(await isSame(record, call, journal, use))) return refuse(OTHER_CALL);
  if (record.result !== undefined || state.isClosed) return plain;
  if (round !== state.rounds.at(-1)) return refuse(REPLACED);
  const { decided } = round;
  if (decided === undefined)
    return { kind: 'refused', answers: [pending(unplanned(call), record.batchId, [], 'decide')] };
  if (!approves(decided.decision, record.callId)) {
    await endDenied(record, decided.decision, settings, journal);
    return plain;
  }
  const decision = { askedAt: round.at, decidedAt: decided.at };
  const recorded = { batchId: record.batchId, record, decision };
  return { kind: 'decided', ...recorded, approver: deciding(decided.decision, approver) };
}

const UNKNOWN = 'No question has this ticket, so the call was not approved. Nothing was run.';
const OTHER_CALL = 'The ticket belongs to another call, and does not approve this one. Nothing was run.';
const REPLACED =
  'The call was asked about again since this ticket was given, because its files changed. Nothing was run.';

function isSame(
  record: CallRecord,
  call: ToolCall,
  journal: Journal,
  { conversation, settings, plan }: Redeeming,
): Awaitable<boolean> {
  try {
    if (isSameCall(record, conversation, call, journal)) return true;
  } catch {
    // Arguments that are not JSON cannot match a recorded call.
    return false;
  }
  const isCallId = record.conversation === conversation && record.callId === call.id;
  if (!isCallId || settings.reviewers.length === 0) return false;
  // The question was about the arguments that a reviewer had put in place of the caller's.
  return plan(call).then(
    (planned) => planned.kind === 'ready' && isSameCall(record, conversation, planned.call, journal),
  );
}

function refuseByTicket(call: unknown, index: number, message: string): ResolvedCall {
  return refuseReady(unplanned(nameOf(call, index)), 'approval_unavailable', message);
}

function unplanned({ id, name }: Pick<ToolCall, 'id' | 'name'>): Pick<ResolvedCall, 'call' | 'effects'> {
  return { call: { id, name, args: NO_ARGS }, effects: [] };
}

/** A ticket replaces the approver: if the call turns out to need approval, it does not run. */
const noDecision: Approver = () => {
  throw new Error('a ticket replaces the approver, and it does not approve such a call');
};

/**
 * An approver that returns the recorded decision. The decision covers only the shown content: if files have
 * changed since, or if a command changes more, that is another question. The executor's own approver answers
 * the question about changes of a command.
 */
function deciding(decision: ApprovalDecision, approver: ExecutorSettings['approver']): Approver {
  return (requests, options) => {
    if (requests.some(isAboutChanges)) {
      if (typeof approver === 'function') return approver(requests, options);
      throw new Error('the ticket approves the call, not changes beyond what the call declared');
    }
    if (decision.kind === 'approve_selected' && hasLeftOut(decision.edits ?? {}))
      throw new Error('the journal leaves out the arguments that the person has written');
    if (requests.some(({ changed }) => changed !== undefined))
      throw new Error('files have changed since the question was shown');
    return decision;
  };
}

function isAboutChanges({ changes }: ApprovalRequest): boolean {
  return changes !== undefined;
}
