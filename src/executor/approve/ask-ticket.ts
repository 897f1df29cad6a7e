import type { Journal } from '../../contract/journal.js';
import type { AskedTicket } from '../../contract/ticket.js';
import { ToolError } from '../../errors/tool-error.js';
import { cleanReason } from '../answer/refuse-ready.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import { planBatch } from '../plan/plan-batch.js';
import type { CallRecovery } from '../record/attach.js';
import { withOrigins } from '../record/conversation-origins.js';
import { type RecordedBatch, Recorder } from '../record/recorder.js';
import { askedNote, snapshotSince, withSnapshot } from './approve-batch.js';
import { type AskedCall, askedAgain, putQuestion, toQuestion } from './ask-approval.js';
import { decideTicket } from './decide-ticket.js';
import { approves, reasonIn } from './decision.js';
import { reviewPlan } from './review.js';
import {
  type AskedRecord,
  askedTicket,
  beginRound,
  isSameCall,
  newSecret,
  parseTicket,
  readAsked,
  unaskedTicket,
} from './ticket.js';

export interface TicketParts {
  readonly scope: BatchScope;
  readonly signal: AbortSignal;
  /** The executor's approver decides at once. */
  readonly asksApprover: boolean;
  readonly recovery: CallRecovery & {
    /** Recovers the calls that dead processes left. Undefined: recovery is already done. */
    ensure(): Promise<void> | undefined;
  };
}

/**
 * Asks about one call with a ticket. The question is recorded first, as a waiting batch with a secret that
 * only its ticket holds. A call that needs no approval is not recorded before it runs.
 * @throws ToolError `journal_unavailable` if the call needs approval and nothing can be recorded
 */
export async function askTicket(call: EvaluatedCall['call'], parts: TicketParts): Promise<AskedTicket> {
  const asked = await openQuestion(call, parts);
  const { scope, signal, asksApprover } = parts;
  const { approver, journal } = scope.settings;
  if (!asksApprover || asked.request === undefined || typeof approver !== 'function') return asked;
  try {
    const decision = await putQuestion([asked.request], { approver, signal, scope: {} });
    await decideTicket(asked.ticket, decision, scope.settings);
  } catch {
    // The approver failed, or another process decided first: the decision in the journal counts.
  }
  const ticket = parseTicket(asked.ticket);
  if (journal === null || ticket?.kind !== 'asked') return asked;
  const found = await readAsked(journal, ticket.batchId);
  return (found && decidedState(found)) ?? asked;
}

async function openQuestion(call: EvaluatedCall['call'], parts: TicketParts): Promise<AskedTicket> {
  const { settings, conversation } = parts.scope;
  const evaluated = await planAlone(call, parts);
  const unasked = { needed: false, ticket: unaskedTicket(conversation, call) };
  const { journal, approver } = settings;
  if (evaluated.kind === 'resolved') return unasked;
  const earlier = journal === null ? undefined : await findAsked(evaluated, conversation, journal);
  if (earlier !== undefined) return askAgain(evaluated, earlier, parts);
  if (!evaluated.needsApproval || approver === null) return unasked;
  if (journal === null) throw unrecorded();
  return (await askFirst(evaluated, parts, journal)) ?? unasked;
}

/** A call as planning and the reviewers leave it. */
export async function planAlone(
  call: EvaluatedCall['call'],
  { scope, signal }: Pick<TicketParts, 'scope' | 'signal'>,
): Promise<EvaluatedCall> {
  const { settings, memory } = scope;
  const planned = planBatch([call], await withOrigins(settings, memory));
  const [evaluated] = await reviewPlan(planned, { scope, signal }, settings);
  if (evaluated === undefined) throw new Error('a batch of one call has one plan');
  return evaluated;
}

function unrecorded(): ToolError {
  const message =
    'Cannot ask about a call: nothing is recorded (journal: false), so no ticket could be kept.';
  return new ToolError('journal_unavailable', message);
}

/** Finds the same call if it was asked about before and has not run since. */
async function findAsked(
  { call }: ReadyCall,
  conversation: string,
  journal: Journal,
): Promise<AskedRecord | undefined> {
  const { id, madeUp, turn } = call;
  if (madeUp === true && turn === undefined) return undefined;
  const record = await journal.find(conversation, id, madeUp === true ? turn : undefined);
  if (record === undefined || record.result !== undefined) return undefined;
  if (!isSameCall(record, conversation, call, journal)) return undefined;
  const found = await readAsked(journal, record.batchId);
  return found === undefined || found.state.isClosed ? undefined : found;
}

/**
 * @returns undefined if the call already has an answer, because it was delivered earlier or because nothing can be
 * recorded.
 */
async function askFirst(
  ready: ReadyCall,
  { scope, recovery }: TicketParts,
  journal: Journal,
): Promise<AskedTicket | undefined> {
  const { settings, conversation } = scope;
  const recorder = new Recorder(journal, scope, { conversation }, outsideOf(recovery));
  const [accepted] = await recorder.accept([ready], recovery.ensure());
  if (accepted?.kind !== 'ready') {
    const record = await journal.find(conversation, ready.call.id);
    const isOther = record === undefined || !isSameCall(record, conversation, ready.call, journal);
    const found = isOther ? undefined : await readAsked(journal, record.batchId);
    return found === undefined ? undefined : askedState(await withSnapshot(ready, scope), found, scope);
  }
  const asked = await withSnapshot(ready, scope);
  const secret = newSecret();
  recorder.note(0, ready.call.id, 'asked', { ...askedNote(asked), ticket: secret });
  await recorder.decide('wait');
  return { needed: true, request: await toQuestion(asked, settings), ticket: askedTicket(scope.id, secret) };
}

/** A question is not in a queue, so it waits for no other call. */
function outsideOf(recovery: TicketParts['recovery']): RecordedBatch {
  const isOrdered = false;
  return {
    stopped: NEVER,
    isOrdered,
    arrival: () => Promise.resolve(),
    placed() {},
    recovery,
  };
}

const NEVER = new Promise<void>(() => {});

/** A repeated question keeps its ticket until the shown files change. */
async function askAgain(ready: ReadyCall, found: AskedRecord, { scope }: TicketParts): Promise<AskedTicket> {
  const { asked, changed } = await snapshotSince(ready, found.record.key, scope);
  const last = found.state.rounds.at(-1);
  const isDenied = last?.decided !== undefined && !approves(last.decided.decision, ready.call.id);
  if (changed.length === 0 || isDenied) return askedState(asked, found, scope);
  const { journal, clock } = scope.settings;
  if (journal === null) throw unrecorded();
  const { record } = found;
  const secret = await beginRound(askedNote(asked), changed, record, { journal, at: clock.now() });
  const ticket = askedTicket(record.batchId, secret);
  return { needed: true, request: await toQuestion(asked, scope.settings), ticket };
}

async function askedState(
  asked: AskedCall,
  found: AskedRecord,
  { settings }: BatchScope,
): Promise<AskedTicket> {
  const decided = decidedState(found);
  if (decided !== undefined) return decided;
  const { secret = '', changed } = found.state.rounds.at(-1) ?? {};
  const again = changed === undefined ? asked : askedAgain(asked.ready, asked.snapshot, changed);
  const ticket = askedTicket(found.record.batchId, secret);
  return { needed: true, request: await toQuestion(again, settings), ticket };
}

function decidedState({ record, state }: AskedRecord): AskedTicket | undefined {
  const last = state.rounds.at(-1);
  if (last?.decided === undefined) return undefined;
  const ticket = askedTicket(record.batchId, last.secret);
  const { decision } = last.decided;
  if (approves(decision, record.callId)) return { needed: false, ticket };
  const reason = reasonIn(decision, record.callId);
  return {
    needed: false,
    ticket,
    denied: true,
    ...(reason === undefined ? {} : { reason: cleanReason(reason) }),
  };
}
