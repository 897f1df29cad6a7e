import type { ReadError, ToolCall } from '../contract/call.js';
import type { CallOrigin } from './call-origin.js';
import type { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import { type ResolvedCall, resolveCall } from './resolve-call.js';

/** Numbers the calls of one response in their order, and keeps apart what can be run and what cannot. */
export class CallCollector {
  readonly #tools: KnownTools;
  readonly #places: ResolvedCall[] = [];
  #id: string | undefined;

  constructor(tools: KnownTools) {
    this.#tools = tools;
  }

  /** The response's own id. Calls with a made-up id that are added later belong to it. The first id counts. */
  setId(id: string | undefined): void {
    this.#id ??= id;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** The calls among `raws`, in order; the rest goes to the errors. */
  add(raws: readonly RawCall[]): ToolCall[] {
    // Most events of a stream complete no call.
    if (raws.length === 0) return [];
    const added = raws.map((raw, at) => resolveCall(raw, this.#places.length + at, this.#tools, this.#id));
    this.#places.push(...added);
    return callsOf(added);
  }

  /** One place for each call that the model asked for, readable or not, in order. */
  get places(): readonly ResolvedCall[] {
    return this.#places;
  }

  get calls(): ToolCall[] {
    return callsOf(this.#places);
  }

  get errors(): ReadError[] {
    return this.#places.flatMap((place) => (place.kind === 'error' ? [place.error] : []));
  }

  /** Of the calls that are not of the format's usual kind. */
  get origins(): readonly CallOrigin[] {
    return this.#places.flatMap(({ origin }) => origin ?? []);
  }
}

function callsOf(places: readonly ResolvedCall[]): ToolCall[] {
  return places.flatMap((place) => (place.kind === 'call' ? [place.call] : []));
}
