import type { JsonObject } from './json.js';

/** A call as the model asked for it. */
export interface ToolCall {
  /** What the result answers to: the provider's own, or `call_<index>` with `madeUp`. */
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** Why the model wants it, where the format carries that. */
  readonly reason?: string;
  /** The response gave no id, so the reader numbered the call: `id` is unique only within its response. */
  readonly madeUp?: true;
  /**
   * The id of the response that the call came in, where it has one. Only with `madeUp`: there it is a part of the
   * call's identity.
   */
  readonly turn?: string;
}
