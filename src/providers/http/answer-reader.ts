import type { ToolDefinition } from '../../contract/tool.js';
import { ModelError } from '../../errors/model-error.js';
import { type CallStream, createCallStream } from '../create-call-stream.js';
import { asJsonObjects } from '../json-fields.js';
import type { AssistantMessage, ModelEvent } from '../model.js';
import { type HttpFormat, httpOf, type WireFormat } from '../registry.js';
import type { ResponseCalls } from '../response-calls.js';
import type { CallPlace, ProviderAnswer } from './http-api.js';
import { answerMessage, textMessage } from './messages.js';
import { parseEvent } from './open-stream.js';

/** Reads one answer while it arrives: turns provider events into model events. */
export class AnswerReader {
  readonly #format: HttpFormat;
  readonly #calls: CallStream;
  readonly #answer: ProviderAnswer;
  #hasCalls = false;
  #isDone = false;

  constructor(format: HttpFormat, tools: readonly ToolDefinition[]) {
    this.#format = format;
    this.#calls = createCallStream<WireFormat>(format, { tools });
    this.#answer = httpOf(format).createAnswer();
  }

  /** Part of the message has arrived; a retry could give another message. */
  get begun(): boolean {
    return this.#answer.begun || this.#hasCalls;
  }

  /** Nothing relevant follows. */
  get isOver(): boolean {
    return this.#isDone || this.#answer.isOver;
  }

  /**
   * @param data of one event
   * @throws ModelError if the provider reports a failure, or the event is invalid.
   */
  push(data: string): readonly ModelEvent[] {
    if (this.isOver) return [];
    const event = parseEvent(data);
    if (event === undefined) {
      this.#isDone = true;
      return [];
    }
    const pieces = this.#answer.push(event);
    const { failure } = this.#answer;
    if (failure !== undefined) {
      const { message, ...more } = failure;
      throw new ModelError(message, more);
    }
    const calls = this.#calls.push(event);
    if (calls.length === 0) return pieces;
    this.#hasCalls = true;
    return [...pieces, ...calls.map((call) => ({ type: 'call' as const, call }))];
  }

  /** @throws ModelError if the provider has not marked the end. */
  *end(): Generator<ModelEvent, void> {
    const { stop, usage } = this.#answer;
    if (stop === undefined)
      throw new ModelError('its stream was cut off before its end', { retriable: true });
    const response = this.#calls.end();
    for (const error of response.errors) yield { type: 'call_error', error };
    if (usage !== undefined) yield { type: 'usage', ...usage };
    // Unanswered calls would make the next request invalid.
    const isRefused = stop === 'refused' && response.calls.length + response.errors.length > 0;
    const message = isRefused ? textMessage(this.#format, this.#answer.text) : this.#toMessage(response);
    const asks = message.calls.length + message.errors.length > 0;
    yield {
      type: 'end',
      stopReason: asks ? 'tool_calls' : stop === 'tool_calls' ? 'end' : stop,
      message,
      answer: (results) => answerMessage(message, results),
    };
  }

  /** Ends an interrupted answer: its unfinished calls. */
  *cut(): Generator<ModelEvent, void> {
    if (!this.begun) return;
    for (const error of this.#calls.end().errors) yield { type: 'call_error', error };
  }

  #toMessage(response: ResponseCalls<WireFormat>): AssistantMessage {
    const { calls, errors, id, origins } = response;
    return {
      role: 'assistant',
      text: this.#answer.text,
      calls,
      errors,
      ...(id === undefined ? {} : { id }),
      ...(origins === undefined ? {} : { origins: asJsonObjects(origins) }),
      native: { format: this.#format, messages: this.#answer.native(toPlaces(response)) },
    };
  }
}

function toPlaces({ calls, errors }: ResponseCalls<WireFormat>): readonly CallPlace[] {
  const places: CallPlace[] = calls.map(({ id }) => ({ id, isBroken: false }));
  // Their index counts all calls, so each is inserted at its position.
  for (const { index, id } of errors) places.splice(index, 0, { id: id ?? `call_${index}`, isBroken: true });
  return places;
}
