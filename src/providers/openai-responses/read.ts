import { parseArguments, type RawCall } from '../raw-call.js';
import { isRecord, toName, toRecords } from '../unknown-value.js';
import { readApplyPatchCall } from './apply-patch-call.js';
import { readLocalShellCall, readShellCall } from './shell-calls.js';

/** Whether input is a response, its output items, or a call item. */
export function isOpenaiResponses(input: unknown): boolean {
  return isResponse(input) || isOutput(input) || isCallItem(input);
}

/** Events contain the response itself; items have their own ids. */
export function responseIdOf(input: unknown): string | undefined {
  const response = isRecord(input) && isRecord(input.response) ? input.response : input;
  return isRecord(response) && Array.isArray(response.output) ? toName(response.id) : undefined;
}

const ITEM_TYPES: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'shell_call', 'shell_call_output']);

export function readOpenaiResponses(input: unknown): readonly RawCall[] {
  const items = isResponse(input) ? input.output : input;
  const all = toRecords(Array.isArray(items) ? items : [items]);
  // A call with an output in the response was run by the provider, or in an earlier turn.
  const answered = new Set(all.filter(isOutputOfCall).map((item) => item.call_id));
  return all.filter((item) => isCallItem(item) && !answered.has(item.call_id)).map(readItem);
}

function isOutputOfCall({ type, call_id: id }: { readonly [key: string]: unknown }): boolean {
  return typeof type === 'string' && type.endsWith('_output') && typeof id === 'string';
}

function isResponse(input: unknown): input is { readonly [key: string]: unknown } {
  if (!isRecord(input) || !Array.isArray(input.output)) return false;
  return input.object === 'response' || input.output.length === 0 || isOutput(input.output);
}

function isOutput(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  const items = toRecords(input);
  if (items.length < input.length) return false;
  return items.some(isCallItem) || items.every((item) => ITEM_TYPES.has(item.type));
}

/** One output item of a response. */
export type Item = { readonly [key: string]: unknown };

const READERS: ReadonlyMap<unknown, (item: Item) => RawCall> = new Map([
  ['function_call', readFunctionCall],
  ['custom_tool_call', readCustomToolCall],
  ['shell_call', readShellCall],
  ['local_shell_call', readLocalShellCall],
  ['apply_patch_call', readApplyPatchCall],
]);

/** Other items with `call` in their type are run by the provider, as is a shell in its container. */
export function isCallItem(value: unknown): value is Item {
  if (!isRecord(value) || !READERS.has(value.type)) return false;
  return value.type !== 'shell_call' || !isHosted(value.environment);
}

/** `id` names the item; results refer to `call_id`. */
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

/** A program of the model that waits for the answer must be able to find it. */
function withCaller(raw: RawCall, caller: unknown): RawCall {
  if (!isRecord(caller) || caller.type !== 'program' || typeof caller.caller_id !== 'string') return raw;
  return { ...raw, origin: { ...raw.origin, program: caller.caller_id } };
}
