import type { ToolResult } from '../contract/call.js';
import type { ToolDefinition } from '../contract/tool.js';
import type { OriginLookup } from './call-origin.js';
import type { NameRule } from './describe/object-schema.js';
import type { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import type { HistoryShape } from './repair/history-shape.js';

/**
 * Everything that is particular to one wire format: a folder with this object in it, and a line in `registry.ts`.
 * Pure; nothing here throws on bad input.
 */
export interface Provider<Answer = unknown, Description = unknown> {
  /** Whose responses these are, in messages: `Gemini`. Left out: the format is our own. */
  readonly title?: string;
  /** The company whose model answered, as the journal keeps it: `google`. */
  readonly vendor?: string;

  /** Whether parsed input, or a text that is no JSON, has this format's shape, be it without any call. */
  recognizes(input: unknown): boolean;
  /** The response's own id, from a response or from an event of its stream that says it. */
  idOf(input: unknown): string | undefined;
  /** The calls in the order in which the model wrote them; malformed ones too. */
  read(input: unknown, tools: KnownTools): readonly RawCall[];
  /** What the model wrote besides its calls. */
  textOf(input: unknown): string;

  createAssembler(tools: KnownTools): CallAssembler;
  /** Whether parsed values are the events of this format's stream. Left out: its stream is text. */
  recognizesStream?(events: readonly unknown[]): boolean;

  /** The results of all calls of one response as the next request takes them, grouped as the provider demands. */
  write(results: readonly ToolResult[], originOf: OriginLookup): Answer;

  /** What the provider accepts as a tool's name. Left out: anything. */
  readonly names?: NameRule;
  /** The tools of a request, in the order given. */
  describe(tools: readonly ToolDefinition[]): Description;

  /** How conversations look. Left out: the format has no place for results, and so no history. */
  readonly history?: HistoryShape;
}

/** Puts calls together from the events of one streamed response. Each is given out once, when it is whole. */
export interface CallAssembler {
  push(event: unknown): readonly RawCall[];
  /** What was begun and never finished. Call once. */
  end(): readonly RawCall[];
}
