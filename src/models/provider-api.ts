import type { JsonObject, JsonValue } from '../contract/json.js';
import type { ModelEnd, ModelFormat, ModelUsage } from '../contract/model.js';

/** Everything that is particular to one provider's HTTP interface. */
export interface ProviderApi {
  readonly format: Exclude<ModelFormat, 'native'>;
  /** In messages: `Anthropic`. */
  readonly title: string;
  /** The function that makes such a model, for messages about its options. */
  readonly factory: string;
  /** Variables of the environment, the first that is set counts. */
  readonly keyNames: readonly [string, ...string[]];
  readonly baseUrlNames: readonly string[];
  readonly defaultBaseUrl: string;
  /** Behind the base URL; may end with a query. */
  path(model: string): string;
  readonly headers: Readonly<Record<string, string>>;
  keyHeader(key: string): Record<string, string>;
  body(request: ProviderRequest): JsonObject;
  /**
   * Parts of the body that some servers or models refuse: what the error of such a server says, and the name under
   * which `request.without` has it when the request is sent once more.
   */
  readonly concessions: readonly Concession[];
  createAnswer(): ProviderAnswer;
  /** The events of a whole response, from a server that does not stream; none for what is no response. */
  toEvents(response: JsonObject): readonly JsonObject[];
}

export interface ProviderRequest {
  readonly model: string;
  readonly system: string | undefined;
  /** In the provider's shape. */
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly maxTokens: number | undefined;
  readonly without: ReadonlySet<string>;
}

export interface Concession {
  readonly name: string;
  readonly refusal: RegExp;
}

/** Puts one streamed answer together, beside the stream of its calls. */
export interface ProviderAnswer {
  /** @returns the text and the reasoning that the event adds. */
  push(event: JsonObject): readonly Piece[];
  /** Something of the message has arrived: to ask again could give another. */
  readonly begun: boolean;
  /** Nothing that matters follows. */
  readonly isOver: boolean;
  /** Why it ended; undefined until it has, and then it is whole. */
  readonly stop: ModelEnd['stopReason'] | undefined;
  /** The provider reports that it failed. */
  readonly failure: ProviderFailure | undefined;
  readonly text: string;
  readonly usage: ModelUsage | undefined;
  /**
   * The message as the next request takes it. `places` are its calls in order: a call without an id gets the one under
   * which it is answered, and one that cannot be read gets empty arguments, since servers refuse broken ones.
   */
  native(places: readonly CallPlace[]): readonly JsonObject[];
}

export type Piece = { readonly type: 'text' | 'reasoning'; readonly text: string };

export interface ProviderFailure {
  readonly message: string;
  readonly status?: number;
  readonly retriable?: boolean;
}

/** A call of an answer, as far as it could be read. */
export interface CallPlace {
  readonly id: string;
  readonly isBroken: boolean;
}

/** Takes the place of a call out of the list: by its id, or the first one that is left for a call without one. */
export function takePlace(places: CallPlace[], id: JsonValue | undefined): CallPlace | undefined {
  const at = places.findIndex((place) => place.id === id);
  return places.splice(Math.max(at, 0), 1)[0];
}
