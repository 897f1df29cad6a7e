import type { ApprovalDecision } from '../../contract/approval.js';
import type { JsonObject } from '../../contract/json.js';
import { reasonOf } from '../answer/results.js';

/** The value is not a decision, so it approves nothing. The message says what is wrong with it. */
class NoDecision extends Error {}

/**
 * Checks a decision and copies it, so that the applied decision is the checked one. Values of the wrong type
 * are refused, not ignored: a `Map` of edits would otherwise run the arguments that the person has replaced.
 * @throws NoDecision
 */
export function readDecision(given: unknown): ApprovalDecision {
  try {
    return copyOf((given ?? {}) as Partial<Record<string, unknown>>);
  } catch (error) {
    if (error instanceof NoDecision) throw error;
    // A getter or a proxy threw.
    throw unreadable(reasonOf(error));
  }
}

/** The hint about a question that has no decision. */
export function whyUndecided(error: unknown): string {
  return error instanceof NoDecision ? error.message : `The approver failed: ${reasonOf(error)}`;
}

function copyOf(given: Partial<Record<string, unknown>>): ApprovalDecision {
  const { kind } = given;
  if (kind !== 'approve_all' && kind !== 'deny_all' && kind !== 'approve_selected')
    throw new NoDecision('The approver gave no decision.');
  const { by } = given;
  if (by !== undefined && typeof by !== 'string') throw unreadable('"by" must be a text');
  const signed = by === undefined ? {} : { by };
  if (kind === 'approve_all') return { kind, ...signed };
  if (kind === 'deny_all') {
    const { reason } = given;
    return { kind, ...(typeof reason === 'string' ? { reason } : {}), ...signed };
  }
  const { ids } = given;
  if (!Array.isArray(ids)) throw unreadable('"ids" must be the list of the calls to approve');
  const byId = {
    edits: recordOf<JsonObject>('edits', given),
    reasons: recordOf<string>('reasons', given),
    paths: recordOf<readonly string[]>('paths', given),
  };
  const isList = (value: unknown): boolean => value === undefined || Array.isArray(value);
  if (!Object.values(byId.paths ?? {}).every(isList))
    throw unreadable('"paths" must name a list for each call');
  const present = Object.fromEntries(Object.entries(byId).filter(([, value]) => value !== undefined));
  return { kind, ids: [...ids], ...present, ...signed };
}

/** The values by call id. Edited arguments are checked when the call is planned again. */
function recordOf<T>(
  name: string,
  given: Partial<Record<string, unknown>>,
): Readonly<Record<string, T>> | undefined {
  const value = given[name];
  if (value === undefined || value === null) return undefined;
  if (Object.prototype.toString.call(value) !== '[object Object]')
    throw unreadable(`"${name}" must be an object with call ids as its keys`);
  return { ...(value as Readonly<Record<string, T>>) };
}

function unreadable(why: string): NoDecision {
  return new NoDecision(`The approver's decision cannot be read: ${why}`);
}

/** The part of a decision that concerns one call. */
export type CallAnswer =
  | {
      readonly approved: true;
      /** The arguments that replace those of the call. */
      readonly args?: JsonObject;
      /** For a call that has run: the only paths to keep. */
      readonly paths?: readonly string[];
    }
  | { readonly approved: false; readonly reason?: string };

export function answerIn(decision: ApprovalDecision, callId: string): CallAnswer {
  switch (decision.kind) {
    case 'approve_all':
      return { approved: true };
    case 'deny_all':
      return denial(decision.reason);
    case 'approve_selected': {
      if (!decision.ids.includes(callId)) return denial(own(decision.reasons, callId));
      const args = own(decision.edits, callId);
      const paths = own(decision.paths, callId);
      return {
        approved: true,
        ...(args === undefined ? {} : { args }),
        ...(paths === undefined ? {} : { paths }),
      };
    }
  }
}

/** Whether a decision allows this call to run. */
export function approves(decision: ApprovalDecision, callId: string): boolean {
  return answerIn(decision, callId).approved;
}

/** The reason that the person gave for denying a call. */
export function reasonIn(decision: ApprovalDecision, callId: string): string | undefined {
  const answer = answerIn(decision, callId);
  return answer.approved ? undefined : answer.reason;
}

function denial(reason: unknown): CallAnswer {
  return typeof reason === 'string' && reason !== '' ? { approved: false, reason } : { approved: false };
}

// Ids come from the model: a plain property access could find an inherited property.
function own<T>(record: Readonly<Record<string, T>> | undefined, id: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, id) ? record[id] : undefined;
}
