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
import { isJsonObject, numberIn, objectIn, readJson, textIn } from '../json-fields.js';

interface Block {
  readonly fields: { [name: string]: JsonValue };
  /** The pieces of its `input`. */
  json: string;
}

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refused'],
]);

/** Builds a message from its stream events: its blocks unchanged, in the order in which they began. */
export class AnthropicAnswer implements ProviderAnswer {
  readonly #blocks: Block[] = [];
  /** By index. */
  readonly #open = new Map<JsonValue | undefined, Block>();
  #input = 0;
  #output = 0;
  #hasUsage = false;
  text = '';
  begun = false;
  isOver = false;
  stop: StopReason | undefined;
  failure: ProviderFailure | undefined;

  push(event: JsonObject): readonly Piece[] {
    switch (event.type) {
      case 'content_block_delta':
        return this.#extend(this.#open.get(event.index), objectIn(event.delta));
      case 'content_block_start':
        return this.#start(event.index, objectIn(event.content_block));
      case 'message_start':
        this.#count(objectIn(event.message).usage);
        return [];
      case 'message_delta':
        this.#finish(textIn(objectIn(event.delta).stop_reason));
        this.#count(event.usage);
        return [];
      case 'message_stop':
        this.isOver = true;
        this.stop ??= 'end';
        return [];
      case 'error':
        this.failure = toFailure(objectIn(event.error));
        return [];
      default:
        return [];
    }
  }

  get usage(): ModelUsage | undefined {
    return this.#hasUsage ? { inputTokens: this.#input, outputTokens: this.#output } : undefined;
  }

  native(places: readonly CallPlace[]): readonly JsonObject[] {
    const left = [...places];
    const content = this.#blocks.flatMap((block) => toNative(block, left));
    return content.length === 0 ? [] : [{ role: 'assistant', content }];
  }

  #start(index: JsonValue | undefined, fields: JsonObject): readonly Piece[] {
    const block: Block = { fields: { ...fields }, json: '' };
    this.#blocks.push(block);
    this.#open.set(index, block);
    if (fields.type === 'tool_use') this.begun = true;
    return this.#pieces('text', textIn(fields.text));
  }

  #extend(block: Block | undefined, delta: JsonObject): readonly Piece[] {
    if (block === undefined) return [];
    const { fields } = block;
    switch (delta.type) {
      case 'text_delta':
        fields.text = textIn(fields.text) + textIn(delta.text);
        return this.#pieces('text', textIn(delta.text));
      case 'input_json_delta':
        this.begun = true;
        block.json += textIn(delta.partial_json);
        return [];
      case 'thinking_delta':
        fields.thinking = textIn(fields.thinking) + textIn(delta.thinking);
        return this.#pieces('reasoning', textIn(delta.thinking));
      case 'signature_delta':
        fields.signature = textIn(fields.signature) + textIn(delta.signature);
        return [];
      case 'citations_delta':
        fields.citations = [
          ...(Array.isArray(fields.citations) ? fields.citations : []),
          delta.citation ?? null,
        ];
        return [];
      default:
        return [];
    }
  }

  #pieces(type: Piece['type'], text: string): readonly Piece[] {
    if (text === '') return [];
    this.begun = true;
    if (type === 'text') this.text += text;
    return [{ type, text }];
  }

  #finish(reason: string): void {
    if (reason !== '') this.stop = STOPS.get(reason) ?? 'end';
  }

  /** Every count is cumulative; cached tokens are counted separately. */
  #count(value: JsonValue | undefined): void {
    if (!isJsonObject(value)) return;
    this.#hasUsage = true;
    const {
      input_tokens: fresh,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
    } = value;
    this.#input = Math.max(this.#input, numberIn(fresh) + numberIn(written) + numberIn(read));
    this.#output = Math.max(this.#output, numberIn(value.output_tokens));
  }
}

function toNative({ fields, json }: Block, places: CallPlace[]): readonly JsonObject[] {
  // The API rejects texts without a visible character.
  if (fields.type === 'text' && textIn(fields.text).trim() === '') return [];
  if (!('input' in fields) && json === '') return [fields];
  const input = json === '' ? fields.input : readJson(json);
  const block = { ...fields, input: isJsonObject(input) ? input : {} };
  if (fields.type !== 'tool_use') return [block];
  const place = takePlace(places, fields.id);
  if (place === undefined) return [block];
  return [{ ...block, id: place.id, ...(place.isBroken ? { input: {} } : {}) }];
}

const STATUS: ReadonlyMap<string, number> = new Map([
  ['overloaded_error', 529],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
]);

function toFailure(error: JsonObject): ProviderFailure {
  const status = STATUS.get(textIn(error.type));
  return { ...failureIn(error), ...(status === undefined ? {} : { status, retriable: true }) };
}
