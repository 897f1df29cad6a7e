import { quote } from '../describe-value.js';
import type { HistoryChange, HistoryFault } from './change.js';

export interface ChangeFacts {
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
