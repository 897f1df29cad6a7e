import type { JsonObject, JsonValue } from '../contract/json.js';
import type { ModelEnd, ModelFormat, ModelUsage } from '../contract/model.js';

/** Everything specific to one provider's HTTP interface. */
export interface ProviderApi {
  readonly format: Exclude<ModelFormat, 'native'>;
  /** For messages: `Anthropic`. */
  readonly title: string;
  /** The function that creates the model, for messages about its options. */
  readonly factory: string;
  /** Environment variables; the first one that is set counts. */
  readonly keyNames: readonly [string, ...string[]];
  readonly baseUrlNames: readonly string[];
  readonly defaultBaseUrl: string;
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
  /** A part of the message has arrived; a retry could give another. */
  readonly begun: boolean;
  /** Nothing relevant follows. */
  readonly isOver: boolean;
  /** Why it ended; undefined until then. */
  readonly stop: ModelEnd['stopReason'] | undefined;
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
