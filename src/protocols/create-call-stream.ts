import type { ToolCall } from '../contract/call.js';
import { CallCollector } from './call-collector.js';
import { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import type { ReadOptions } from './read-calls.js';
import { providerOf, type WireFormat } from './registry.js';
import { type ResponseCalls, toResponseCalls } from './response-calls.js';

/** Reads one response while it arrives (A026). */
export interface CallStream<F extends WireFormat = WireFormat> {
  /**
   * The calls that this event completed; each is given out once, and nothing before it is whole. An event is what
   * the provider's stream holds as `data`, parsed (what its SDK yields); a string for `fenced`; a call or an array of
   * calls for `native`. May be ignored: `end` gives all calls. Gives nothing after `end`.
   */
  push(event: unknown): ToolCall[];
  /**
   * The whole response, as `readCalls` gives one: all its calls, also those that `push` gave, all that could not be read
   * or was begun and never finished, and `answer`. The same object each time.
   */
  end(): ResponseCalls<F>;
}

/** @throws ToolError `config_invalid` for what is no format; `push` and `end` never throw. */
export function createCallStream<F extends WireFormat>(
  format: F,
  options: Pick<ReadOptions, 'tools'> = {},
): CallStream<F> {
  const provider = providerOf(format);
  const tools = new KnownTools(provider.names, options.tools);
  const assembler = provider.createAssembler(tools);
  const collector = new CallCollector(tools);
  let response: ResponseCalls<F> | undefined;
  const read = (event: unknown): readonly RawCall[] => {
    try {
      if (collector.id === undefined) collector.setId(provider.idOf(event));
      return assembler.push(event);
    } catch (error) {
      // A getter or a proxy of the caller may throw anything.
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
