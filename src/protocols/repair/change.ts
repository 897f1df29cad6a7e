/** One thing that was wrong with a history, and is no longer. */
import { quote } from '../unknown-value.js';

export interface HistoryChange {
  readonly kind: HistoryFault;
  /** As it was written; `''` where there was none. */
  readonly callId: string;
  /** The index of the message or item in the history as it came. */
  readonly at: number;
  /** What was found, and what was made of it. */
  readonly message: string;
  /** Of a `missing_result` or an `unknown_result`: whether `find` had it, or its outcome is unknown. */
  readonly result?: 'found' | 'unknown';
}

export type HistoryFault =
  /** A call that nothing answers. */
  | 'missing_result'
  /** A call that was answered `outcome_unknown`, or as waiting for approval, and whose real result is known now. */
  | 'unknown_result'
  /** A result that answers no call; it was taken out. */
  | 'orphan_result'
  /** One more result of a call that has one; it was taken out. */
  | 'duplicate_result'
  /** A result that did not stand where the provider looks for it. */
  | 'misplaced_result'
  /** The same call once more; it was taken out. */
  | 'duplicate_call'
  /** Another call under an id that was taken; it has one of its own now. */
  | 'reused_id'
  /** A call that nothing could answer; it has an id now. */
  | 'missing_id';

interface ChangeFacts {
  readonly kind: HistoryFault;
  readonly callId: string;
  readonly name: string;
  readonly newId: string | undefined;
  readonly result: HistoryChange['result'] | undefined;
}

/** One sentence on what was found and what was made of it. */
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
      return `A result${id === '' ? tool : ` for${id}`} answers no call: it was taken out.`;
    case 'duplicate_result':
      return `A further result for the ${call} was taken out.`;
    case 'misplaced_result':
      return `The result of the ${call} did not follow its call in order: it was moved there.`;
    case 'duplicate_call':
      return `The ${call} stood there twice: the copy was taken out.`;
    case 'reused_id':
      return `The id of the ${call} belongs to an earlier call: this one is ${quote(newId ?? '')} now.`;
    case 'missing_id':
      return `A call${tool} had no id: it is ${quote(newId ?? '')} now.`;
  }
}
