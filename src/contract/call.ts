import type { JsonObject } from './json.js';

/** A call as the model asked for it. `id` is the model's own and is what the result answers to. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** Why the model wants it, where the format carries that. */
  readonly reason?: string;
}
