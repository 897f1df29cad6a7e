import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { ModelUsage, StopReason } from '../../contract/model.js';
import {
  type CallPlace,
  failureIn,
  type Piece,
  type ProviderAnswer,
  type ProviderFailure,
  takePlace,
} from '../http/http-api.js';
import { isJsonObject, numberIn, objectIn, objectsIn, textIn } from '../json-fields.js';
import { isCallItem } from './read.js';

const REASONING_DELTAS: ReadonlySet<JsonValue | undefined> = new Set([
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
]);

/** Builds the items of a response from its stream events. */
export class OpenaiResponsesAnswer implements ProviderAnswer {
  readonly #items = new Map<JsonValue | undefined, JsonObject>();
  #isRefusal = false;
  text = '';
  begun = false;
  isOver = false;
  stop: StopReason | undefined;
  failure: ProviderFailure | undefined;
  usage: ModelUsage | undefined;

  push(event: JsonObject): readonly Piece[] {
    const { type } = event;
    if (type === 'response.output_text.delta') return this.#pieces('text', textIn(event.delta));
    if (type === 'response.refusal.delta') {
      this.#isRefusal = true;
      return this.#pieces('text', textIn(event.delta));
    }
    if (REASONING_DELTAS.has(type)) return this.#pieces('reasoning', textIn(event.delta));
    if (type === 'response.output_item.added' || type === 'response.output_item.done') {
      this.#add(event.output_index, objectIn(event.item));
    } else if (type === 'response.completed' || type === 'response.incomplete') {
      this.#finish(objectIn(event.response));
    } else if (type === 'response.failed') {
      this.failure = toFailure(objectIn(objectIn(event.response).error));
    } else if (type === 'error' || isJsonObject(event.error)) {
      this.failure = toFailure(isJsonObject(event.error) ? event.error : event);
    }
    return [];
  }

  native(places: readonly CallPlace[]): readonly JsonObject[] {
    const left = [...places];
    return [...this.#items.values()].flatMap((item) => toInput(item, left));
  }

  #add(index: JsonValue | undefined, item: JsonObject): void {
    // Without an index, an item can only be identified by its id.
    this.#items.set(index ?? item.id ?? item.call_id ?? this.#items.size, item);
    if (isCallItem(item)) this.begun = true;
  }

  #finish(response: JsonObject): void {
    this.isOver = true;
    // A server that sends fewer events includes everything here.
    const output = objectsIn(response.output);
    if (output.length > 0) this.#items.clear();
    for (const [index, item] of output.entries()) this.#add(index, item);
    const { usage } = response;
    if (isJsonObject(usage)) {
      this.usage = { inputTokens: numberIn(usage.input_tokens), outputTokens: numberIn(usage.output_tokens) };
    }
    const why = textIn(objectIn(response.incomplete_details).reason);
    if (this.#isRefusal || why === 'content_filter') this.stop = 'refused';
    else this.stop = response.status === 'incomplete' || why !== '' ? 'length' : 'end';
  }

  #pieces(type: Piece['type'], text: string): readonly Piece[] {
    if (text === '') return [];
    this.begun = true;
    if (type === 'text') this.text += text;
    return [{ type, text }];
  }
}

/** An item for the next request: unchanged, except for parts that the provider would reject. */
function toInput(item: JsonObject, places: CallPlace[]): readonly JsonObject[] {
  // Without its content the provider would search its store, which is empty.
  if (item.type === 'reasoning') return typeof item.encrypted_content === 'string' ? [item] : [];
  if (item.type === 'message') return objectsIn(item.content).length === 0 ? [] : [item];
  if (!isCallItem(item)) return [item];
  const place = takePlace(places, item.call_id);
  const call = { ...item, call_id: place?.id ?? textIn(item.call_id) };
  if (item.type !== 'function_call') return [call];
  const args = place?.isBroken !== false || textIn(item.arguments).trim() === '' ? '{}' : item.arguments;
  return [{ ...call, arguments: args ?? '{}', status: 'completed' }];
}

function toFailure(error: JsonObject): ProviderFailure {
  const failure = failureIn(error);
  const { status = STATUS.get(textIn(error.code) || textIn(error.type)) } = failure;
  if (status === undefined) return failure;
  return { ...failure, status, retriable: status === 429 || status >= 500 };
}

const STATUS: ReadonlyMap<string, number> = new Map([
  ['server_error', 500],
  ['rate_limit_exceeded', 429],
]);
