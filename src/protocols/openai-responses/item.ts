import { isRecord } from '../is-record.js';
import { parseArguments } from '../parse-arguments.js';
import type { RawCall } from '../raw-call.js';
import { readApplyPatchCall } from './read-apply-patch-call.js';
import { readLocalShellCall } from './read-local-shell-call.js';
import { readShellCall } from './read-shell-call.js';

/** One item of a response's output. */
export type Item = { readonly [key: string]: unknown };

const READERS: ReadonlyMap<unknown, (item: Item) => RawCall> = new Map([
  ['function_call', readFunctionCall],
  ['custom_tool_call', readCustomToolCall],
  ['shell_call', readShellCall],
  ['local_shell_call', readLocalShellCall],
  ['apply_patch_call', readApplyPatchCall],
]);

/** Other items with the word `call` in their type are run by the provider itself, as is a shell in its container. */
export function isCallItem(value: unknown): value is Item {
  if (!isRecord(value) || !READERS.has(value.type)) return false;
  return value.type !== 'shell_call' || !isHosted(value.environment);
}

/** `id` names the item; the call that a result answers to is `call_id`. */
export function readItem(item: Item): RawCall {
  const raw = (READERS.get(item.type) ?? readFunctionCall)(item);
  const whole = item.status === 'incomplete' ? { id: raw.id, name: raw.name, problem: CUT_OFF } : raw;
  return withCaller({ ...whole, ...(raw.origin === undefined ? {} : { origin: raw.origin }) }, item.caller);
}

export function toUnfinished(item: Item): RawCall {
  const { id, name, origin } = readItem(item);
  return { id, name, problem: UNFINISHED, unfinished: true, ...(origin === undefined ? {} : { origin }) };
}

const CUT_OFF = 'the response was cut off inside it (status "incomplete"). Send it again, shorter.';
const UNFINISHED = 'the stream ended inside it. Send the call again.';

function isHosted(environment: unknown): boolean {
  return isRecord(environment) && environment.type !== 'local';
}

function readFunctionCall({ call_id: id, name, arguments: args }: Item): RawCall {
  return parseArguments({ id, name, args, argsField: 'arguments' });
}

function readCustomToolCall({ call_id: id, name, input: text }: Item): RawCall {
  return { id, name, text, origin: { item: 'custom_tool_call' } };
}

/** A program of the model's that waits for the answer has to find it. */
function withCaller(raw: RawCall, caller: unknown): RawCall {
  if (!isRecord(caller) || caller.type !== 'program' || typeof caller.caller_id !== 'string') return raw;
  return { ...raw, origin: { ...raw.origin, program: caller.caller_id } };
}
