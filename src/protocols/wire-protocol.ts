import type { ToolResult } from '../contract/call.js';
import type { AnthropicAnswer } from './anthropic/write-anthropic.js';
import type { OriginLookup } from './call-origin.js';
import type { GeminiAnswer } from './gemini/write-gemini.js';
import type { KnownTools } from './known-tools.js';
import type { NativeResult } from './native/write-native.js';
import type { OpenaiToolMessage } from './openai/write-openai.js';
import type { OpenaiOutputItem } from './openai-responses/write-output-item.js';
import type { RawCall } from './raw-call.js';
import type { WireFormat } from './wire-format.js';

/**
 * The results of a response as the next request takes them. Each fits the message types of the provider's SDK; the
 * lists are the caller's own.
 */
export interface Answers {
  readonly native: NativeResult[];
  readonly fenced: NativeResult[];
  /** One user message with all results. */
  readonly anthropic: AnthropicAnswer;
  /** A message for each result. */
  readonly openai: OpenaiToolMessage[];
  /** An input item for each result, of the kind that asked. */
  readonly 'openai-responses': OpenaiOutputItem[];
  /** One content with all results. */
  readonly gemini: GeminiAnswer;
}

/** Everything that is particular to one wire format. Pure; nothing here throws on bad input. */
export interface WireProtocol<F extends WireFormat = WireFormat> {
  /** Whether parsed input has this format's shape, be it without any call. */
  recognises(input: unknown): boolean;
  /** The response's own id, from a response or from an event of its stream that says it. */
  idOf(input: unknown): string | undefined;
  /** The calls in the order in which the model wrote them; malformed ones too. */
  read(input: unknown, tools: KnownTools): readonly RawCall[];
  /** The results of all calls of one response, grouped as the provider demands. */
  write(results: readonly ToolResult[], originOf: OriginLookup): Answers[F];
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
