import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { ToolCall } from '../contract/call.js';
import { CallCollector } from './call-collector.js';
import type { CallOrigin } from './call-origin.js';
import { describeValue } from './describe-value.js';
import { KnownTools } from './known-tools.js';
import type { ReadError } from './read-error.js';
import { type Recording, readRecording } from './read-recording.js';
import type { ToolLike } from './tool-like.js';
import type { WireFormat } from './wire-format.js';
import { RECOGNITION_ORDER, WIRE_PROTOCOLS } from './wire-protocols.js';

export interface ReadOptions {
  /**
   * The tools that the model was shown with `describeTools`: their shortened names are turned back, free text finds
   * its argument, and a name of theirs is never taken for a provider's own tool.
   */
  readonly tools?: readonly ToolLike[];
}

export interface ReadCalls {
  readonly format: WireFormat;
  readonly calls: ToolCall[];
  /** `index` counts calls and errors together, so that each can be answered in its place. */
  readonly errors: ReadError[];
  /** `unknown`: the input is no response at all, which is something else than a response without a call. */
  readonly shape: 'known' | 'unknown';
  /** What `writeResults` has to know of calls that are not of the format's usual kind; left out when none is. */
  readonly origins?: readonly CallOrigin[];
}

/**
 * The calls of a model's response in whatever shape it came: an object of a provider, its JSON text, the text of its
 * stream (`data:` lines, or JSON lines), or prose with fenced blocks (A012). Never throws; what cannot be read is
 * among the errors.
 */
export function readCalls(input: unknown, options: ReadOptions = {}): ReadCalls {
  try {
    return typeof input === 'string' ? readText(input, options) : readValue(input, options);
  } catch (error) {
    // A getter or a proxy of the caller may throw anything.
    return refuse(
      `Cannot read the input: ${error instanceof Error ? error.message : 'it throws when it is read'}`,
    );
  }
}

const EXPECTED =
  'A response of Anthropic, OpenAI or Gemini, {"id", "name", "args"} or an array of such calls, or text with ```tool blocks was expected.';

function readText(text: string, options: ReadOptions): ReadCalls {
  if (text.trim() === '') return refuse(`Cannot read the input: it is empty. ${EXPECTED}`);
  if (text.includes('\0')) return refuse(`Cannot read the input: it is binary. ${EXPECTED}`);
  const recording = readRecording(text);
  if (recording !== undefined) return replay(recording, options);
  if (WIRE_PROTOCOLS.fenced.recognises(text)) return readAs('fenced', text, options);
  try {
    return readValue(parseJson(text), options);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return refuse(`Cannot read the input: it begins like JSON and is none: ${error.detail}`);
  }
}

function readValue(value: unknown, options: ReadOptions): ReadCalls {
  const format = RECOGNITION_ORDER.find((candidate) => WIRE_PROTOCOLS[candidate].recognises(value));
  if (format !== undefined) return readAs(format, value, options);
  return refuse(
    `Cannot find a call in the input: it is ${describeValue(value)} of no known shape. ${EXPECTED}`,
  );
}

function readAs(format: WireFormat, input: unknown, options: ReadOptions): ReadCalls {
  const tools = new KnownTools(format, options.tools);
  const collector = new CallCollector(tools);
  const calls = collector.add(WIRE_PROTOCOLS[format].read(input, tools));
  return { format, calls, ...collector.rest, shape: 'known' };
}

function replay({ format, events, rest }: Recording, options: ReadOptions): ReadCalls {
  const tools = new KnownTools(format, options.tools);
  const collector = new CallCollector(tools);
  const assembler = WIRE_PROTOCOLS[format].createAssembler(tools);
  const calls = events.flatMap((event) => collector.add(assembler.push(event)));
  const left = assembler.end();
  // What cannot be read is the end of a call that was begun; only where none was, it may have been a call itself.
  calls.push(...collector.add(left.length > 0 ? left : rest));
  return { format, calls, ...collector.rest, shape: 'known' };
}

function refuse(message: string): ReadCalls {
  return { format: 'native', calls: [], errors: [{ index: 0, message }], shape: 'unknown' };
}
