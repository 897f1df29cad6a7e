import type { ApprovalDecision } from '../../contract/approval.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { cleanReason } from '../answer/refuse-ready.js';
import { failure } from '../answer/results.js';
import type { ExecutorSettings } from '../call/settings.js';
import { deniedMessage } from './ask-approval.js';
import { approves, readDecision, reasonIn } from './decision.js';
import {
  type AskedRecord,
  decidedNote,
  isSecret,
  newSecret,
  parseTicket,
  readAsked,
  type TicketRound,
} from './ticket.js';

type World = Pick<ExecutorSettings, 'journal' | 'clock' | 'worker'>;

/**
 * Records a person's decision about a ticket. A denied call is answered immediately; an approved call waits for
 * the program that runs it.
 * @throws ToolError `unknown_batch`, `already_decided`, `bad_args` for an invalid decision,
 * `journal_unavailable`.
 */
export async function decideTicket(given: string, decision: ApprovalDecision, world: World): Promise<void> {
  const ticket = parseTicket(given);
  if (ticket?.kind === 'unasked') throw decided('its call needs no approval, so there is nothing to decide.');
  const { journal, clock } = world;
  const found =
    ticket === undefined || journal === null ? undefined : await readAsked(journal, ticket.batchId);
  const round = found?.state.rounds.find(
    ({ secret }) => ticket !== undefined && isSecret(ticket.secret, secret),
  );
  if (journal === null || found === undefined || round === undefined) throw unknownTicket();
  requireOpen(found, round);
  const stored = toStored(decision);
  const id = newSecret();
  const data = decidedNote(round.secret, id, stored, found.record.callId);
  await journal.note(found.record.key, { kind: 'approval', data, at: clock.now() });
  const now = await readAsked(journal, found.record.batchId);
  const counted = now?.state.rounds.find(({ secret }) => secret === round.secret)?.decided;
  if (counted?.id !== id) throw decided('another decision came first.');
  if (!approves(stored, found.record.callId)) await endDenied(found.record, stored, world, journal);
}

function unknownTicket(): ToolError {
  const message = 'Cannot decide: no question has this ticket. Use the ticket that ask() has given.';
  return new ToolError('unknown_batch', message);
}

function decided(why: string): ToolError {
  return new ToolError('already_decided', `Cannot decide about this ticket: ${why}`);
}

function requireOpen({ state, record }: AskedRecord, round: TicketRound): void {
  if (round.decided !== undefined)
    throw decided(`it was decided already, on ${new Date(round.decided.at).toISOString()}.`);
  if (round !== state.rounds.at(-1))
    throw decided('files have changed since, and the call was asked about again with another ticket.');
  if (state.isClosed || record.result !== undefined) throw decided('its call was answered already.');
}

/** The decision as the journal keeps it: a stored decision that cannot be read could be neither applied nor replaced. */
function toStored(given: unknown): ApprovalDecision {
  try {
    readDecision(given);
    return readDecision(JSON.parse(JSON.stringify(given)));
  } catch {
    // The value is not a decision, is not JSON, or throws while it is read.
  }
  const expected = "{ kind: 'approve_all' }, { kind: 'deny_all' } or { kind: 'approve_selected', ids }";
  throw new ToolError(
    'bad_args',
    `Cannot decide about this ticket: ${expected} is expected. "by" must be a text.`,
  );
}

/** Answers a call that a person has denied. If this happens twice, the first answer stays. */
export async function endDenied(
  { batchId, key, callId: id, toolName: name }: CallRecord,
  decision: ApprovalDecision,
  { clock, worker }: World,
  journal: Journal,
): Promise<void> {
  const at = clock.now();
  const reason = reasonIn(decision, id);
  await journal.decide(batchId, { kind: 'resume', at, data: { why: 'approval', worker: { ...worker } } });
  const message = cleanReason(deniedMessage(name, reason));
  await journal.finish(key, failure({ id, name }, 'user_denied', message, 'no'), at, 'queued');
}
