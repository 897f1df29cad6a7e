import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { ModelUsage, StopReason } from '../../contract/model.js';
import {
  type CallPlace,
  failureIn,
  type Piece,
  type ProviderAnswer,
  type ProviderFailure,
} from '../http/http-api.js';
import { isJsonObject, numberIn, objectIn, objectsIn, textIn } from '../json-fields.js';
import { CallFragments } from './call-fragments.js';

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['length', 'length'],
  ['content_filter', 'refused'],
]);

/** Reasoning fields that several servers want back with the calls. */
const REASONING = ['reasoning_content', 'reasoning_details'] as const;

/** Builds a message from the chunks of a completion. */
export class OpenaiAnswer implements ProviderAnswer {
  readonly #calls = new CallFragments();
  readonly #kept: { [name: string]: JsonValue } = {};
  #refusal = '';
  text = '';
  begun = false;
  /** The token count follows the end, so only the end of the stream counts. */
  readonly isOver = false;
  stop: StopReason | undefined;
  failure: ProviderFailure | undefined;
  usage: ModelUsage | undefined;

  push(event: JsonObject): readonly Piece[] {
    if (isJsonObject(event.error) || typeof event.error === 'string') {
      const failure = failureIn(isJsonObject(event.error) ? event.error : { message: event.error });
      const { status = 0 } = failure;
      this.failure = { ...failure, retriable: status === 429 || status >= 500 };
      return [];
    }
    if (isJsonObject(event.usage)) this.#count(event.usage);
    const choice = objectsIn(event.choices).find(({ index }) => index === undefined || index === 0);
    if (choice === undefined) return [];
    const pieces = this.#extend(objectIn(choice.delta));
    const reason = textIn(choice.finish_reason);
    if (reason !== '') this.stop = this.#refusal === '' ? (STOPS.get(reason) ?? 'end') : 'refused';
    return pieces;
  }

  native(places: readonly CallPlace[]): readonly JsonObject[] {
    const calls = this.#calls.native(places);
    const content = this.text === '' ? this.#refusal : this.text;
    if (calls.length > 0) return [{ role: 'assistant', content, tool_calls: calls, ...this.#kept }];
    const legacy = this.#calls.legacy(places);
    if (legacy !== undefined) return [{ role: 'assistant', content, function_call: legacy }];
    return content === '' ? [] : [{ role: 'assistant', content }];
  }

  #extend(delta: JsonObject): readonly Piece[] {
    const pieces: Piece[] = [];
    const give = (type: Piece['type'], text: string): void => {
      if (text !== '') pieces.push({ type, text });
    };
    // Servers with both fields send the same text twice.
    give('reasoning', textIn(delta.reasoning_content) || textIn(delta.reasoning));
    this.#keep(delta);
    const text = textIn(delta.content);
    const refusal = textIn(delta.refusal);
    this.text += text;
    this.#refusal += refusal;
    give('text', text);
    give('text', refusal);
    if (this.#calls.push(delta) || pieces.length > 0) this.begun = true;
    return pieces;
  }

  #keep(delta: JsonObject): void {
    for (const name of REASONING) {
      const value = delta[name];
      const kept = this.#kept[name];
      if (typeof value === 'string' && value !== '') this.#kept[name] = textIn(kept) + value;
      if (Array.isArray(value)) this.#kept[name] = [...(Array.isArray(kept) ? kept : []), ...value];
    }
  }

  #count(usage: JsonObject): void {
    this.usage = {
      inputTokens: numberIn(usage.prompt_tokens),
      outputTokens: numberIn(usage.completion_tokens),
    };
  }
}
