import type { ToolResult } from '../contract/call.js';
import type { ToolDefinition } from '../contract/tool.js';
import type { OriginLookup } from './call-origin.js';
import type { NameRule } from './describe/object-schema.js';
import type { HttpApi } from './http/http-api.js';
import type { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import type { HistoryShape } from './repair/history-shape.js';
import type { ProviderTurns } from './write-turns.js';

/**
 * Everything specific to one provider: a folder with this object, and a line in `registry.ts`. Pure; nothing
 * here throws on bad input.
 */
export interface Provider<Answer = unknown, Description = unknown> {
  /** The provider's name in messages: `Gemini`. Absent for our own format. */
  readonly title?: string;
  /** The company behind the model, for the journal: `google`. */
  readonly vendor?: string;

  /** Whether parsed input, or text that is not JSON, has this format, with or without calls. */
  recognizes(input: unknown): boolean;
  /** The response's id, from a response or an event of its stream. */
  idOf(input: unknown): string | undefined;
  /** The calls in the model's order, including malformed ones. */
  read(input: unknown, tools: KnownTools): readonly RawCall[];
  /** The model's text besides its calls. */
  textOf(input: unknown): string;

  createAssembler(tools: KnownTools): CallAssembler;
  /** Whether parsed values are events of this format's stream. If absent: its stream is text. */
  recognizesStream?(events: readonly unknown[]): boolean;

  /** The results of a response for the next request, grouped as the provider requires. */
  write(results: readonly ToolResult[], originOf: OriginLookup): Answer;

  /** The provider's rule for tool names. If absent: any name. */
  readonly names?: NameRule;
  /** The tools of a request, in the given order. */
  describe(tools: readonly ToolDefinition[]): Description;

  /** The format of conversations. If absent: the format has no place for results, so it has no history. */
  readonly history?: HistoryShape;
  /** Writes conversations of other formats in this one. Every format with `history` has it. */
  readonly turns?: ProviderTurns;
  /** The provider's own HTTP interface. If absent: no server speaks this format. It needs `history`. */
  readonly http?: HttpApi;
}

/**
 * Assembles calls from the events of a streamed response. Each call is returned once, when it is complete.
 */
export interface CallAssembler {
  push(event: unknown): readonly RawCall[];
  /** The unfinished calls. Call it once. */
  end(): readonly RawCall[];
}
