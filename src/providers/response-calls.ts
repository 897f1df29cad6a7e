import { requireArgument } from '../base/normalize-options.js';
import type { ReadError, ToolCall, ToolResult } from '../contract/call.js';
import { ToolError } from '../errors/tool-error.js';
import type { CallCollector } from './call-collector.js';
import { type CallOrigin, createOriginLookup, madeUpId } from './call-origin.js';
import { native } from './native/native.js';
import { type Answers, providerOf, type WireFormat } from './registry.js';
import type { ResolvedCall } from './resolve-call.js';
import { isRecord, isResultList, quote } from './unknown-value.js';

/** The calls of a response, and how to answer them. */
export interface ResponseCalls<F extends WireFormat> {
  readonly format: F;
  /** The response's id, if it has one: `id` (Anthropic, OpenAI), `responseId` (Gemini). */
  readonly id?: string;
  readonly calls: ToolCall[];
  /** `index` counts calls and errors together: the position in the response. */
  readonly errors: ReadError[];
  /** `unknown`: the input is not a response, as opposed to a response without calls. */
  readonly shape: 'known' | 'unknown';
  /** Data for `writeResults` about calls of a special kind; left out if there are none. */
  readonly origins?: readonly CallOrigin[];
  /**
   * Builds the message or messages for the next request: one result for each call, in order and of the
   * matching kind. An unreadable call is answered `bad_args` in its place. Results may come in any order,
   * because they are matched by call id; results for the errors may be included.
   * @throws ToolError `bad_args` if a result is missing, superfluous or of another response, and if the input
   * did not match the named format.
   */
  readonly answer: (results: readonly ToolResult[]) => Answers[F];
}

/** For a response whose format is detected: `format` names it. */
export type ReadCalls = { readonly [F in WireFormat]: ResponseCalls<F> }[WireFormat];

/**
 * The compiler cannot derive for a type parameter that calls of one format are calls of one of the formats.
 */
export function toReadCalls(calls: ResponseCalls<WireFormat>): ReadCalls {
  return calls as ReadCalls;
}

export function toResponseCalls<F extends WireFormat>(
  format: F,
  { id, places, calls, errors, origins }: CollectedCalls,
): ResponseCalls<F> {
  return {
    format,
    ...(id === undefined ? {} : { id }),
    calls,
    errors,
    shape: 'known',
    ...(origins.length === 0 ? {} : { origins }),
    answer: (results) => {
      const asked = places.map((place) => {
        const unnamed = place.madeUp === undefined ? {} : { unnamed: place.madeUp };
        return place.origin ?? { callId: idOf(place), ...unnamed };
      });
      return providerOf(format).write(inPlaces(places, results), createOriginLookup(asked));
    },
  };
}

/** The calls of a response, each in its place. */
type CollectedCalls = Pick<CallCollector, 'id' | 'places' | 'calls' | 'errors' | 'origins'>;

/** The stored part of a response: plain JSON. */
export type KeptCalls = Pick<ResponseCalls<WireFormat>, 'calls' | 'errors' | 'origins'>;

/** Restores a response from its stored part, to answer it later. */
export function restoreCalls<F extends WireFormat>(format: F, kept: KeptCalls): ResponseCalls<F> {
  const { calls, errors, origins = [] } = kept;
  const originOf = createOriginLookup(origins);
  const withOrigin = (id: string) => {
    const origin = originOf(id);
    return origin === undefined ? {} : { origin };
  };
  const places: ResolvedCall[] = calls.map((call) => ({
    kind: 'call',
    call,
    ...withOrigin(call.id),
    ...(call.madeUp === undefined ? {} : { madeUp: call.madeUp }),
  }));
  // Their index counts all calls, so each is inserted at its position.
  for (const error of errors) {
    places.splice(error.index, 0, { kind: 'error', error, ...withOrigin(error.id ?? '') });
  }
  return toResponseCalls(format, { id: undefined, places, calls, errors, origins });
}

/** For input that does not match the named format. */
export function toNoResponse<F extends WireFormat>(format: F, message: string): ResponseCalls<F> {
  return {
    format,
    calls: [],
    errors: [{ index: 0, message }],
    shape: 'unknown',
    answer: () => {
      throw cannotAnswer(`there is no response to answer. ${message}`);
    },
  };
}

/** For input of unknown form without a named format: the model can get the error in our own format. */
export function toUnknown(message: string): ResponseCalls<'native'> {
  const errors = [{ index: 0, message }];
  return {
    format: 'native',
    calls: [],
    errors,
    shape: 'unknown',
    answer: (results) => native.write(answerReadErrors(results, errors)),
  };
}

function inPlaces(places: readonly ResolvedCall[], results: readonly ToolResult[]): readonly ToolResult[] {
  if (!isResultList(results)) throw cannotAnswer('an array of results was expected.');
  const isInOrder =
    results.length === places.length && places.every((place, at) => results[at]?.callId === idOf(place));
  if (isInOrder) return results;
  const left = new Map<string, ToolResult[]>();
  for (const result of results) {
    const alike = left.get(result.callId);
    if (alike === undefined) left.set(result.callId, [result]);
    else alike.push(result);
  }
  const answers = new Map<ResolvedCall, ToolResult>();
  const give = (place: ResolvedCall): void => {
    const result = left.get(idOf(place))?.shift();
    if (result !== undefined) answers.set(place, result);
    else if (place.kind === 'call') throw cannotAnswer(`${nameOf(place.call)} has no result. ${ONE_EACH}`);
    else for (const answer of answerReadErrors([], [place.error])) answers.set(place, answer);
  };
  // Calls first: an error may share the id of a call, and already has its answer.
  for (const place of places) if (place.kind === 'call') give(place);
  for (const place of places) if (place.kind === 'error') give(place);
  const [surplus] = [...left.values()].flat();
  if (surplus !== undefined) throw describeSurplus(surplus, places);
  return places.flatMap((place) => answers.get(place) ?? []);
}

const ONE_EACH = 'Hand over exactly one result for each call.';

function describeSurplus({ callId }: ToolResult, places: readonly ResolvedCall[]): ToolError {
  const call = quote(callId);
  if (places.some((place) => idOf(place) === callId)) {
    return cannotAnswer(`the call ${call} has more than one result. ${ONE_EACH}`);
  }
  return cannotAnswer(`the response has no call ${call}, but there is a result for it. ${ONE_EACH}`);
}

function nameOf({ id, name }: ToolCall): string {
  return `the call ${quote(id)} of ${quote(name)}`;
}

function idOf(place: ResolvedCall): string {
  return place.kind === 'call' ? place.call.id : (place.error.id ?? madeUpId(place.error.index));
}

function cannotAnswer(why: string): ToolError {
  return new ToolError('bad_args', `Cannot answer the response: ${why}`);
}

/**
 * One result per call of the response: `results` belong to the readable calls in order, and each error is
 * answered `bad_args` in its place.
 * @throws ToolError `bad_args` for anything but lists of results and of errors
 */
export function answerReadErrors(
  results: readonly ToolResult[],
  errors: readonly ReadError[],
): readonly ToolResult[] {
  requireArgument('answerReadErrors()', results, isResultList, 'an array of results', 'bad_args');
  requireArgument('answerReadErrors()', errors, isErrorList, 'an array of read errors', 'bad_args');
  const unplaced = new Map(errors.map((error) => [error.index, toResult(error)]));
  const answered: ToolResult[] = [];
  const placeErrors = () => {
    for (let at = answered.length; ; at++) {
      const result = unplaced.get(at);
      if (result === undefined) return;
      unplaced.delete(at);
      answered.push(result);
    }
  };
  for (const result of results) {
    placeErrors();
    answered.push(result);
  }
  placeErrors();
  return [...answered, ...unplaced.values()];
}

function isErrorList(value: unknown): boolean {
  return Array.isArray(value) && value.every((error) => isRecord(error) && typeof error.index === 'number');
}

function toResult({ index, id, name, message }: ReadError): ToolResult {
  return {
    callId: id ?? madeUpId(index),
    toolName: name ?? '',
    success: false,
    output: '',
    error: { code: 'bad_args', message, details: { executed: 'no' } },
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  };
}
