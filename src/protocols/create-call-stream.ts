import type { ToolCall } from '../contract/call.js';
import { CallCollector } from './call-collector.js';
import type { CallOrigin } from './call-origin.js';
import { KnownTools } from './known-tools.js';
import type { RawCall } from './raw-call.js';
import type { ReadOptions } from './read-calls.js';
import type { ReadError } from './read-error.js';
import type { WireFormat } from './wire-format.js';
import { protocolOf } from './wire-protocols.js';

/** Reads one response while it arrives (A026). */
export interface CallStream {
  /**
   * The calls that this event completed; each is given out once, and nothing before it is whole. An event is what
   * the provider's stream holds as `data`, parsed; a string for `fenced`; a call or an array of calls for `native`.
   */
  push(event: unknown): ToolCall[];
  /** All that could not be read, what was begun and never finished, and what `writeResults` has to know of the calls. */
  end(): { calls: ToolCall[]; errors: ReadError[]; origins?: readonly CallOrigin[] };
}

/** @throws ToolError `config_invalid` for what is no format; `push` and `end` never throw. */
export function createCallStream(format: WireFormat, options: ReadOptions = {}): CallStream {
  const protocol = protocolOf(format);
  const tools = new KnownTools(format, options.tools);
  const assembler = protocol.createAssembler(tools);
  const collector = new CallCollector(tools);
  const pushed = (event: unknown): readonly RawCall[] => {
    try {
      return assembler.push(event);
    } catch (error) {
      // A getter or a proxy of the caller may throw anything.
      return [{ problem: error instanceof Error ? error.message : 'its event throws when it is read' }];
    }
  };
  return {
    push: (event) => collector.add(pushed(event)),
    end: () => {
      const calls = collector.add(assembler.end());
      return { calls, ...collector.rest };
    },
  };
}
