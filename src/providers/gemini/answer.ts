import type { JsonObject } from '../../contract/json.js';
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
import { isCallPart } from './read.js';

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['STOP', 'end'],
  ['MAX_TOKENS', 'length'],
]);
/** The model tried to call and wrote something invalid: a retry may help. */
const MISCALLS: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']);
/** The model or a filter declined. */
const REFUSALS: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
]);

/** Builds a content from stream responses, each of which holds complete parts. */
export class GeminiAnswer implements ProviderAnswer {
  readonly #parts: JsonObject[] = [];
  text = '';
  begun = false;
  /** Some models mark every part as possibly the last. */
  readonly isOver = false;
  stop: StopReason | undefined;
  failure: ProviderFailure | undefined;
  usage: ModelUsage | undefined;

  push(event: JsonObject): readonly Piece[] {
    if (isJsonObject(event.error)) {
      const failure = failureIn(event.error);
      const { status = 0 } = failure;
      this.failure = { ...failure, retriable: status === 429 || status >= 500 };
      return [];
    }
    if (isJsonObject(event.usageMetadata)) this.#count(event.usageMetadata);
    if (textIn(objectIn(event.promptFeedback).blockReason) !== '') this.stop = 'refused';
    const candidate = objectsIn(event.candidates).find(({ index }) => index === undefined || index === 0);
    if (candidate === undefined) return [];
    const pieces = objectsIn(objectIn(candidate.content).parts).flatMap((part) => this.#add(part));
    this.#finish(textIn(candidate.finishReason), textIn(candidate.finishMessage));
    return pieces;
  }

  native(places: readonly CallPlace[]): readonly JsonObject[] {
    const left = [...places];
    const parts = this.#parts.map((part) =>
      isCallPart(part) ? toSound(part, takePlace(left, callOf(part).id)) : part,
    );
    return parts.length === 0 ? [] : [{ role: 'model', parts }];
  }

  #add(part: JsonObject): readonly Piece[] {
    const text = textIn(part.text);
    const last = this.#parts.at(-1);
    // A signature belongs to the part that it arrived with.
    if (last !== undefined && isPlainText(part) && isPlainText(last)) {
      this.#parts[this.#parts.length - 1] = { text: textIn(last.text) + text };
    } else if (!isPlainText(part) || text !== '') this.#parts.push(part);
    if (isCallPart(part)) this.begun = true;
    if (text === '') return [];
    this.begun = true;
    if (part.thought === true) return [{ type: 'reasoning', text }];
    this.text += text;
    return [{ type: 'text', text }];
  }

  #finish(reason: string, message: string): void {
    if (reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') return;
    if (MISCALLS.has(reason)) {
      this.failure = { message: `${reason}${message === '' ? '' : `: ${message}`}`, retriable: true };
    } else this.stop = STOPS.get(reason) ?? (REFUSALS.has(reason) ? 'refused' : 'end');
  }

  #count(usage: JsonObject): void {
    this.usage = {
      inputTokens: numberIn(usage.promptTokenCount) + numberIn(usage.toolUsePromptTokenCount),
      outputTokens: numberIn(usage.candidatesTokenCount) + numberIn(usage.thoughtsTokenCount),
    };
  }
}

function isPlainText(part: JsonObject): boolean {
  return Object.keys(part).length === 1 && typeof part.text === 'string';
}

/** Only an object counts as a call, and only an object as its arguments. */
function toSound(part: JsonObject, place: CallPlace | undefined): JsonObject {
  if (place?.isBroken !== true) return part;
  const { functionCall: _, function_call: __, ...rest } = part;
  const call = callOf(part);
  return { ...rest, functionCall: { ...call, name: textIn(call.name) || 'unknown', args: {} } };
}

function callOf({ functionCall, function_call: spelled }: JsonObject): JsonObject {
  return objectIn(functionCall ?? spelled);
}
