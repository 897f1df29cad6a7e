import type { ToolResult } from '../contract/result.js';
import type { OriginLookup } from './call-origin.js';
import type { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';

/** Everything that is particular to one wire format. Pure; nothing here throws on bad input. */
export interface WireProtocol {
  /** Whether parsed input has this format's shape, be it without any call. */
  recognises(input: unknown): boolean;
  /** The calls in the order in which the model wrote them; malformed ones too. */
  read(input: unknown, tools: KnownTools): readonly RawCall[];
  /** The results of all calls of one response, grouped as the provider demands. */
  write(results: readonly ToolResult[], originOf: OriginLookup): unknown;
  createAssembler(tools: KnownTools): CallAssembler;
  /** Whether a parsed value is an event of this format's stream. Left out: its stream is text. */
  recognisesEvent?(event: unknown): boolean;
}

/** Puts calls together from the events of one streamed response. Each is given out once, when it is whole. */
export interface CallAssembler {
  push(event: unknown): readonly RawCall[];
  /** What was begun and never finished. Call once. */
  end(): readonly RawCall[];
}
