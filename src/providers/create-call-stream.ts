import { checkOptions } from '../base/normalize-options.js';
import type { ToolCall } from '../contract/call.js';
import { CallCollector } from './call-collector.js';
import { KnownTools, TOOL_OPTIONS } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import type { ReadOptions } from './read-calls.js';
import { providerOf, type WireFormat } from './registry.js';
import { type ResponseCalls, toResponseCalls } from './response-calls.js';

/** Reads a response while it arrives (A026). */
export interface CallStream<F extends WireFormat = WireFormat> {
  /**
   * Returns the calls that this event completed; each call is returned once. An event is the parsed `data` of
   * the provider's stream (as its SDK yields it); a string for `fenced`; a call or an array of calls for
   * `native`. The return value may be ignored, because `end` returns all calls. Returns nothing after `end`.
   */
  push(event: unknown): ToolCall[];
  /**
   * Returns the whole response like `readCalls`: all calls, including those from `push`, all unreadable and
   * unfinished ones, and `answer`. Always the same object. Calls are in the order in which they were completed, which
   * differs from the whole response only if the provider sends several calls at once.
   */
  end(): ResponseCalls<F>;
}

/** @throws ToolError `config_invalid` for an unknown format or an invalid option; `push` and `end` never throw. */
export function createCallStream<F extends WireFormat>(
  format: F,
  options: Pick<ReadOptions, 'tools'> = {},
): CallStream<F> {
  const provider = providerOf(format);
  checkOptions('createCallStream', options, TOOL_OPTIONS);
  const tools = new KnownTools(provider.names, options.tools);
  const assembler = provider.createAssembler(tools);
  const collector = new CallCollector(tools);
  let response: ResponseCalls<F> | undefined;
  const read = (event: unknown): readonly RawCall[] => {
    try {
      if (collector.id === undefined) collector.setId(provider.idOf(event));
      return assembler.push(event);
    } catch (error) {
      // A caller's getter or proxy may throw anything.
      return [{ problem: error instanceof Error ? error.message : 'its event throws when it is read' }];
    }
  };
  return {
    push: (event) => (response === undefined ? collector.add(read(event)) : []),
    end: () => {
      if (response !== undefined) return response;
      collector.add(assembler.end());
      response = toResponseCalls(format, collector);
      return response;
    },
  };
}
