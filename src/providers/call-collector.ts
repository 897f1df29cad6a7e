import type { ReadError, ToolCall } from '../contract/call.js';
import type { CallOrigin } from './call-origin.js';
import type { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import { type ResolvedCall, resolveCall } from './resolve-call.js';

/** Numbers the calls of a response in order, and separates readable from unreadable ones. */
export class CallCollector {
  readonly #tools: KnownTools;
  readonly #places: ResolvedCall[] = [];
  #id: string | undefined;

  constructor(tools: KnownTools) {
    this.#tools = tools;
  }

  /** Sets the response's id, once. Calls with made-up ids that are added later belong to it. */
  setId(id: string | undefined): void {
    this.#id ??= id;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** Returns the readable calls in order; the others become errors. */
  add(raws: readonly RawCall[]): ToolCall[] {
    // Most events of a stream complete no call.
    if (raws.length === 0) return [];
    const added = raws.map((raw, at) => resolveCall(raw, this.#places.length + at, this.#tools, this.#id));
    this.#places.push(...added);
    return callsOf(added);
  }

  /** One place per call of the response, readable or not, in order. */
  get places(): readonly ResolvedCall[] {
    return this.#places;
  }

  get calls(): ToolCall[] {
    return callsOf(this.#places);
  }

  get errors(): ReadError[] {
    return this.#places.flatMap((place) => (place.kind === 'error' ? [place.error] : []));
  }

  /** The origins of calls of a special kind. */
  get origins(): readonly CallOrigin[] {
    return this.#places.flatMap(({ origin }) => origin ?? []);
  }
}

function callsOf(places: readonly ResolvedCall[]): ToolCall[] {
  return places.flatMap((place) => (place.kind === 'call' ? [place.call] : []));
}
