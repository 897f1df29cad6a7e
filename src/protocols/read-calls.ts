import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { ToolCall } from '../contract/call.js';
import { CallCollector } from './call-collector.js';
import { describeValue } from './describe-value.js';
import type { ReadError } from './read-error.js';
import type { WireFormat } from './wire-format.js';
import { RECOGNITION_ORDER, WIRE_PROTOCOLS } from './wire-protocols.js';

export interface ReadCalls {
  readonly format: WireFormat;
  readonly calls: ToolCall[];
  /** `index` counts calls and errors together, so that each can be answered in its place. */
  readonly errors: ReadError[];
  /** `unknown`: the input is no response at all, which is something else than a response without a call. */
  readonly shape: 'known' | 'unknown';
}

/**
 * The calls of a model's response in whatever shape it came: an object of a provider, its JSON text, or prose with
 * fenced blocks (A012). Never throws; what cannot be read is among the errors.
 */
export function readCalls(input: unknown): ReadCalls {
  try {
    return typeof input === 'string' ? readText(input) : readValue(input);
  } catch (error) {
    // A getter or a proxy of the caller may throw anything.
    return refuse(
      `Cannot read the input: ${error instanceof Error ? error.message : 'it throws when it is read'}`,
    );
  }
}

const EXPECTED =
  'A response of Anthropic, OpenAI or Gemini, {"id", "name", "args"} or an array of such calls, or text with ```tool blocks was expected.';

function readText(text: string): ReadCalls {
  if (text.trim() === '') return refuse(`Cannot read the input: it is empty. ${EXPECTED}`);
  if (text.includes('\0')) return refuse(`Cannot read the input: it is binary. ${EXPECTED}`);
  if (WIRE_PROTOCOLS.fenced.recognises(text)) return readAs('fenced', text);
  try {
    return readValue(parseJson(text));
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return refuse(`Cannot read the input: it begins like JSON and is none: ${error.detail}`);
  }
}

function readValue(value: unknown): ReadCalls {
  const format = RECOGNITION_ORDER.find((candidate) => WIRE_PROTOCOLS[candidate].recognises(value));
  if (format !== undefined) return readAs(format, value);
  return refuse(
    `Cannot find a call in the input: it is ${describeValue(value)} of no known shape. ${EXPECTED}`,
  );
}

function readAs(format: WireFormat, input: unknown): ReadCalls {
  const collector = new CallCollector();
  const calls = collector.add(WIRE_PROTOCOLS[format].read(input));
  return { format, calls, errors: collector.errors, shape: 'known' };
}

function refuse(message: string): ReadCalls {
  return { format: 'native', calls: [], errors: [{ index: 0, message }], shape: 'unknown' };
}
