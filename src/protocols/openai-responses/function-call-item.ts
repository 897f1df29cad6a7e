import { isRecord } from '../is-record.js';
import { parseArguments } from '../parse-arguments.js';
import type { RawCall } from '../raw-call.js';

export type FunctionCallItem = { readonly [key: string]: unknown };

/** Other items with the word `call` in their type are run by the provider itself. */
export function isFunctionCall(value: unknown): value is FunctionCallItem {
  return isRecord(value) && value.type === 'function_call';
}

/** `id` names the item; the call that a result answers to is `call_id`. */
export function toRawCall({ call_id: id, name, arguments: args, status }: FunctionCallItem): RawCall {
  if (status === 'incomplete') {
    return {
      id,
      name,
      problem: 'the response was cut off inside it (status "incomplete"). Send it again, shorter.',
    };
  }
  return parseArguments({ id, name, args, argsField: 'arguments' });
}
