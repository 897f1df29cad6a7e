import type { ReadError, ToolCall, ToolResult } from '../contract/call.js';
import { ToolError } from '../errors/tool-error.js';
import type { CallCollector } from './call-collector.js';
import { type CallOrigin, createOriginLookup, madeUpId } from './call-origin.js';
import { native } from './native/native.js';
import { type Answers, providerOf, type WireFormat } from './registry.js';
import type { ResolvedCall } from './resolve-call.js';
import { quote } from './unknown-value.js';

/** What a response asks for, and how it is answered. */
export interface ResponseCalls<F extends WireFormat> {
  readonly format: F;
  /** The response's own id, where it has one: `id` (Anthropic, OpenAI), `responseId` (Gemini). */
  readonly id?: string;
  readonly calls: ToolCall[];
  /** `index` counts calls and errors together: the place of the call in the response. */
  readonly errors: ReadError[];
  /** `unknown`: the input is no response at all, which is something else than a response without a call. */
  readonly shape: 'known' | 'unknown';
  /** What `writeResults` has to know of calls that are not of the format's usual kind; left out when none is. */
  readonly origins?: readonly CallOrigin[];
  /**
   * The next request's message or messages: one result for each call that the model asked for, in its order and of the
   * kind that it asked for. A call that could not be read is answered `bad_args` in its place. Results may come in any
   * order: they are matched by call id. Results for the errors may be among them.
   * @throws ToolError `bad_args` when a call has no result, when a result belongs to no call of this response or is one
   *   too many, and when the input was no response of the format that was named.
   */
  readonly answer: (results: readonly ToolResult[]) => Answers[F];
}

/** Of a response whose format shows only when it is read: `format` tells which. */
export type ReadCalls = { readonly [F in WireFormat]: ResponseCalls<F> }[WireFormat];

/** Calls of one format are calls of one of the formats, which the compiler cannot derive for a type parameter. */
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

/** The calls of one response, each in its place. */
type CollectedCalls = Pick<CallCollector, 'id' | 'places' | 'calls' | 'errors' | 'origins'>;

/** What was kept of a response: plain JSON. */
export type KeptCalls = Pick<ResponseCalls<WireFormat>, 'calls' | 'errors' | 'origins'>;

/** A response that is not at hand any more, from what was kept of it, to be answered now. */
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
  // Their index counts all calls: in order, each is put where it stood.
  for (const error of errors) {
    places.splice(error.index, 0, { kind: 'error', error, ...withOrigin(error.id ?? '') });
  }
  return toResponseCalls(format, { id: undefined, places, calls, errors, origins });
}

/** For input that is no response of the format that was named. */
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

/** For input of no known shape, where no format was named: the model can be told in our own what was wrong. */
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
  if (!Array.isArray(results)) throw cannotAnswer('an array of results was expected.');
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
  // Calls first: an error may have the id of a call, and has its answer already.
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
 * One result per call that the model asked for: `results` belong to the readable calls, in order, and each error is
 * answered in its place with `bad_args`.
 */
export function answerReadErrors(
  results: readonly ToolResult[],
  errors: readonly ReadError[],
): readonly ToolResult[] {
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
