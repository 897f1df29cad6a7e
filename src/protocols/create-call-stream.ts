import type { ToolCall } from '../contract/call.js';
import { CallCollector } from './call-collector.js';
import type { RawCall } from './raw-call.js';
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
  /** All that could not be read, and what was begun and never finished. */
  end(): { calls: ToolCall[]; errors: ReadError[] };
}

/** @throws ToolError `config_invalid` for what is no format; `push` and `end` never throw. */
export function createCallStream(format: WireFormat): CallStream {
  const assembler = protocolOf(format).createAssembler();
  const collector = new CallCollector();
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
    end: () => ({ calls: collector.add(assembler.end()), errors: collector.errors }),
  };
}
