import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ApprovalDecision } from '../../contract/approval.js';
import type { ToolCall } from '../../contract/call.js';
import type { CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { hasArguments } from '../../journal/redaction/redacting-journal.js';
import type { BatchScope } from '../call/batch-scope.js';
import { approves } from './decision.js';

/** A ticket is bound to these parts of a call, and to its conversation. */
export type TicketCall = Pick<ToolCall, 'id' | 'name' | 'args'>;

/**
 * A parsed ticket. A call that needs approval has a waiting batch and, beside it in the journal, a secret:
 * without the journal, one ticket cannot be guessed from another. A call that needs no approval has only a
 * hash: forging it gains nothing, because such a call also runs without a ticket.
 */
export type ParsedTicket =
  | { readonly kind: 'asked'; readonly batchId: string; readonly secret: string }
  | { readonly kind: 'unasked'; readonly binding: string };

const ASKED = /^ticket_(.{1,160})_([A-Za-z0-9_-]{22})$/;
const UNASKED = 'ticket_unasked_';
const BINDING_CHARACTERS = 64;

export function parseTicket(text: unknown): ParsedTicket | undefined {
  if (typeof text !== 'string') return undefined;
  if (text.startsWith(UNASKED) && text.length === UNASKED.length + BINDING_CHARACTERS)
    return { kind: 'unasked', binding: text.slice(UNASKED.length) };
  const [, batchId, secret] = ASKED.exec(text) ?? [];
  return batchId === undefined || secret === undefined ? undefined : { kind: 'asked', batchId, secret };
}

export function askedTicket(batchId: string, secret: string): string {
  return `ticket_${batchId}_${secret}`;
}

export function unaskedTicket(conversation: string, call: TicketCall): string {
  return `${UNASKED}${bindingOf(conversation, call)}`;
}

/** SHA-256 of all parts to which a ticket without a question is bound. */
export function bindingOf(conversation: string, call: TicketCall): string {
  // A value that is not a call is refused by planning, whatever the ticket says.
  const { id, name, args } = (call ?? {}) as Partial<TicketCall>;
  return hash('sha256', `${JSON.stringify([conversation, id, name])}${argumentsOf(args)}`, 'hex');
}

/** Arguments that are not a JSON object are refused by planning, whatever the ticket says. */
function argumentsOf(args: JsonObject | undefined): string {
  try {
    return canonicalize(args) ?? '';
  } catch {
    return '';
  }
}

export function newSecret(): string {
  return randomBytes(16).toString('base64url');
}

/** One question to the person. It begins when it is asked, and a later question replaces it. */
export interface TicketRound {
  readonly secret: string;
  readonly at: number;
  /** The files that changed since the earlier question. Absent for a first question. */
  readonly changed?: readonly string[];
  readonly decided?: TicketDecision;
}

export interface TicketDecision {
  /** Identifies this decision if several arrive at once. */
  readonly id: string;
  readonly decision: ApprovalDecision;
  readonly at: number;
}

/** The state of the question about a recorded call. */
export interface TicketState {
  /** All questions so far. Only the last one counts. */
  readonly rounds: readonly TicketRound[];
  /** The call has started or was given up, so a decision no longer counts. */
  readonly isClosed: boolean;
}

/** The note of a person's decision. The call keeps waiting for the program that runs it. */
export function decidedNote(
  secret: string,
  id: string,
  decision: ApprovalDecision,
  callId: string,
): JsonObject {
  const { by } = decision;
  return {
    approved: approves(decision, callId),
    ...(by === undefined ? {} : { by }),
    of: secret,
    id,
    decided: { ...decision } as JsonObject,
  };
}

/**
 * Reads the questions from the notes of a call. The journal keeps the order of notes, so if two persons
 * decide at once, the first decision counts.
 */
function readRounds(notes: readonly JournalNote[]): readonly TicketRound[] {
  const rounds: TicketRound[] = [];
  for (const { kind, data, at } of notes) {
    const { ticket, of, id, decided, changed } = data;
    const last = rounds.at(-1);
    if (kind === 'asked' && typeof ticket === 'string')
      rounds.push({
        secret: ticket,
        at,
        ...(Array.isArray(changed) ? { changed: changed.map(String) } : {}),
      });
    const isOpen = kind === 'approval' && last !== undefined && last.decided === undefined;
    if (isOpen && of === last.secret && isDecision(decided))
      rounds[rounds.length - 1] = { ...last, decided: { id: String(id), decision: decided, at } };
  }
  return rounds;
}

function isDecision(value: unknown): value is ApprovalDecision {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

export function isSecret(given: string, known: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(known)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A call that `ask` has recorded. */
export interface AskedRecord {
  readonly record: CallRecord;
  readonly state: TicketState;
}

export async function readAsked(journal: Journal, batchId: string): Promise<AskedRecord | undefined> {
  const [record] = await journal.batch(batchId);
  if (record === undefined || record.batchId !== batchId) return undefined;
  const rounds = readRounds(await journal.notes(record.key));
  if (rounds.length === 0) return undefined;
  return { record, state: { rounds, isClosed: record.decision !== 'wait' } };
}

/**
 * Records a new question about a call; the earlier one no longer counts.
 * @param shown the contents that the question shows
 * @returns the secret of its ticket
 */
export async function beginRound(
  shown: JsonObject,
  changed: readonly string[],
  { key }: CallRecord,
  { journal, at }: { readonly journal: Journal; readonly at: number },
): Promise<string> {
  const secret = newSecret();
  const data = { ...shown, ticket: secret, changed: [...changed] };
  await journal.note(key, { kind: 'asked', data, at });
  return secret;
}

/**
 * Files of the call have changed since its ticket was approved. This is therefore another question, with another
 * ticket.
 * @returns false if no ticket was decided about the call
 */
export async function askTicketAgain(
  { id, settings: { journal, clock } }: BatchScope,
  shown: JsonObject,
  changed: readonly string[],
): Promise<boolean> {
  const found = journal === null ? undefined : await readAsked(journal, id);
  if (journal === null || found?.state.rounds.at(-1)?.decided === undefined) return false;
  await beginRound(shown, changed, found.record, { journal, at: clock.now() });
  return true;
}

export function isSameCall(
  record: CallRecord,
  conversation: string | undefined,
  { id, name, args }: TicketCall,
  journal: Journal,
): boolean {
  const isNamed = record.conversation === conversation && record.callId === id && record.toolName === name;
  return isNamed && hasArguments(record, args, journal);
}
