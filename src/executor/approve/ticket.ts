import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApprovalDecision } from '../../contract/approval.js';
import type { ToolCall } from '../../contract/call.js';
import type { CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { hasArguments } from '../../journal/redaction/redacting-journal.js';
import { hashArguments } from '../../schema/freeze-arguments.js';

/** The call that a ticket is bound to, besides its conversation. */
export type TicketCall = Pick<ToolCall, 'id' | 'name' | 'args'>;

/**
 * A ticket as text. A call that needs approval has a batch that waits, and a secret beside it in the journal: without
 * the journal no ticket can be guessed from another one. A call that needs none has only a hash: forging it gains
 * nothing, because such a call runs without a ticket too.
 */
export type ParsedTicket =
  | { readonly kind: 'asked'; readonly batchId: string; readonly secret: string }
  | { readonly kind: 'unasked'; readonly binding: string };

const ASKED = /^ticket_(.{1,160})_([A-Za-z0-9_-]{22})$/;
const UNASKED = /^ticket_unasked_([0-9a-f]{64})$/;

export function parseTicket(text: unknown): ParsedTicket | undefined {
  if (typeof text !== 'string') return undefined;
  const binding = UNASKED.exec(text)?.[1];
  if (binding !== undefined) return { kind: 'unasked', binding };
  const [, batchId, secret] = ASKED.exec(text) ?? [];
  return batchId === undefined || secret === undefined ? undefined : { kind: 'asked', batchId, secret };
}

export function askedTicket(batchId: string, secret: string): string {
  return `ticket_${batchId}_${secret}`;
}

export function unaskedTicket(conversation: string, call: TicketCall): string {
  return `ticket_unasked_${bindingOf(conversation, call)}`;
}

/** SHA-256 of everything that a ticket without a question is bound to. */
export function bindingOf(conversation: string, { id, name, args }: TicketCall): string {
  return hash('sha256', JSON.stringify([conversation, id, name, argumentsOf(args)]), 'hex');
}

/** What is no JSON object is refused by planning, whatever its ticket. */
function argumentsOf(args: JsonObject): string {
  try {
    return hashArguments(args);
  } catch {
    return '';
  }
}

export function newSecret(): string {
  return randomBytes(16).toString('base64url');
}

/** One question to the person: it begins when it is asked, and a later one takes its place. */
export interface TicketRound {
  readonly secret: string;
  readonly decided?: TicketDecision;
}

export interface TicketDecision {
  /** Names this decision among several that come at once. */
  readonly id: string;
  readonly decision: ApprovalDecision;
  readonly at: number;
}

/** How the question about a recorded call stands. */
export interface TicketState {
  /** All questions so far; the last one counts. */
  readonly rounds: readonly TicketRound[];
  /** The call was begun, or given up: no decision counts any more. */
  readonly isClosed: boolean;
}

/** The note of a person's decision: the call goes on waiting, for the program that runs it. */
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
 * Reads the questions from the notes of a call. The journal keeps their order, so of two persons who decide at once the
 * first one counts. Undefined: `ask` did not record the call.
 */
function readRounds(notes: readonly JournalNote[]): readonly TicketRound[] {
  const rounds: TicketRound[] = [];
  for (const { kind, data, at } of notes) {
    const { ticket, of, id, decided } = data;
    const last = rounds.at(-1);
    if (kind === 'asked' && typeof ticket === 'string') rounds.push({ secret: ticket });
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

/** Whether a decision lets this call run. */
export function approves(decision: ApprovalDecision, callId: string): boolean {
  if (decision.kind === 'approve_all') return true;
  return decision.kind === 'approve_selected' && decision.ids.includes(callId);
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
