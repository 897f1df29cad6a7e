/** A fault of a history that was corrected. */
import { quote } from '../unknown-value.js';

export interface HistoryChange {
  readonly kind: HistoryFault;
  /** As written; `''` if there was none. */
  readonly callId: string;
  /** The index of the message or item in the original history. */
  readonly at: number;
  /** The fault and its correction. */
  readonly message: string;
  /** For a `missing_result` or an `unknown_result`: whether `find` had it, or its outcome is unknown. */
  readonly result?: 'found' | 'unknown';
}

export type HistoryFault =
  /** A call without an answer. */
  | 'missing_result'
  /**
   * A call that was answered `outcome_unknown`, or as waiting for approval, and whose real result is now
   * known.
   */
  | 'unknown_result'
  /** A result without a call; it was removed. */
  | 'orphan_result'
  /** A second result of a call; it was removed. */
  | 'duplicate_result'
  /** A result in a place where the provider does not accept it. */
  | 'misplaced_result'
  /** A copy of a call; it was removed. */
  | 'duplicate_call'
  /** Another call with an id that was in use; it got a new one. */
  | 'reused_id'
  /** A call without an id; it got one. */
  | 'missing_id';

interface ChangeFacts {
  readonly kind: HistoryFault;
  readonly callId: string;
  readonly name: string;
  readonly newId: string | undefined;
  readonly result: HistoryChange['result'] | undefined;
}

/** One sentence about the fault and its correction. */
export function describeChange(facts: ChangeFacts): string {
  const { kind, callId, name, newId } = facts;
  const id = callId === '' ? '' : ` ${quote(callId)}`;
  const tool = name === '' ? '' : ` of ${quote(name)}`;
  const call = `call${id}${tool}`;
  switch (kind) {
    case 'missing_result':
      return facts.result === 'found'
        ? `The ${call} had no result: it has the recorded one now.`
        : `The ${call} had no result: it is answered outcome_unknown.`;
    case 'unknown_result':
      return `The ${call} was answered before its outcome was known: it has the recorded result now.`;
    case 'orphan_result':
      return `A result${id === '' ? tool : ` for${id}`} answers no call: it was removed.`;
    case 'duplicate_result':
      return `A further result for the ${call} was removed.`;
    case 'misplaced_result':
      return `The result of the ${call} did not follow its call in order: it was moved there.`;
    case 'duplicate_call':
      return `The ${call} appeared twice: the copy was removed.`;
    case 'reused_id':
      return `The id of the ${call} belongs to an earlier call: this one is ${quote(newId ?? '')} now.`;
    case 'missing_id':
      return `A call${tool} had no id: it is ${quote(newId ?? '')} now.`;
  }
}
