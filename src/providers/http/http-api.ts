import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { ModelUsage, StopReason } from '../../contract/model.js';
import { numberIn, textIn } from '../json-fields.js';

/** Everything specific to one provider's HTTP interface. */
export interface HttpApi {
  /** For messages: `Anthropic`. */
  readonly title: string;
  /** The function that creates the model, for messages about its options. */
  readonly factory: string;
  /** Environment variables; the first one that is set counts. */
  readonly keyNames: readonly [string, ...string[]];
  readonly baseUrlNames: readonly string[];
  readonly defaultBaseUrl: string;
  /** Context sizes of its models. */
  readonly contextWindows: readonly ContextWindow[];
  /** Appended to the base URL; may end with a query. */
  path(model: string): string;
  readonly headers: Readonly<Record<string, string>>;
  keyHeader(key: string): Record<string, string>;
  body(request: ProviderRequest): JsonObject;
  /**
   * Parts of the body that some servers or models reject: the pattern of the error, and the name for
   * `request.without` in the second attempt.
   */
  readonly concessions: readonly Concession[];
  createAnswer(): ProviderAnswer;
  /** The events of a whole response, from a server that does not stream; empty if it is not a response. */
  toEvents(response: JsonObject): readonly JsonObject[];
}

/** The context of models whose name matches, in lower case: tokens of input and output together. */
export type ContextWindow = readonly [name: RegExp, tokens: number];

export interface ProviderRequest {
  readonly model: string;
  readonly system: string | undefined;
  /** In the provider's format. */
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly maxTokens: number | undefined;
  readonly without: ReadonlySet<string>;
}

export interface Concession {
  readonly name: string;
  readonly refusal: RegExp;
}

/** Builds one streamed answer, next to the stream of its calls. */
export interface ProviderAnswer {
  /** @returns the text and reasoning of the event. */
  push(event: JsonObject): readonly Piece[];
  /** Part of the message has arrived; a retry could give another message. */
  readonly begun: boolean;
  /** Nothing relevant follows. */
  readonly isOver: boolean;
  /** The reason for the end; undefined until then. */
  readonly stop: StopReason | undefined;
  /** The failure that the provider reports. */
  readonly failure: ProviderFailure | undefined;
  readonly text: string;
  readonly usage: ModelUsage | undefined;
  /**
   * The message for the next request. `places` are its calls in order: a call without an id gets the one of
   * its answer, and an unreadable call gets empty arguments, because servers reject malformed ones.
   */
  native(places: readonly CallPlace[]): readonly JsonObject[];
}

export type Piece = { readonly type: 'text' | 'reasoning'; readonly text: string };

export interface ProviderFailure {
  readonly message: string;
  readonly status?: number;
  readonly retriable?: boolean;
}

/** A call of an answer, readable or not. */
export interface CallPlace {
  readonly id: string;
  readonly isBroken: boolean;
}

/**
 * Removes the place of a call from the list: by its id, or the first remaining one for a call without an id.
 */
export function takePlace(places: CallPlace[], id: JsonValue | undefined): CallPlace | undefined {
  const at = places.findIndex((place) => place.id === id);
  return places.splice(Math.max(at, 0), 1)[0];
}

/** The failure in a stream event: `{ error: … }`, or the error itself. */
export function failureIn(error: JsonObject): { readonly message: string; readonly status?: number } {
  const code = numberIn(error.code) || numberIn(error.status);
  const kind = [error.type, error.status, error.code]
    .map(textIn)
    .find((word) => word !== '' && word !== 'error');
  const message = textIn(error.message) || 'no reason given';
  return {
    message: `${kind === undefined ? '' : `${kind}: `}${message}`,
    ...(code >= 400 && code < 600 ? { status: code } : {}),
  };
}
