import { JsonTextError } from '../base/json-text-error.js';
import { checkOptions, type OptionRules, option } from '../base/normalize-options.js';
import { parseJson } from '../base/parse-json.js';
import { CallCollector } from './call-collector.js';
import { KnownTools, TOOL_OPTIONS, type ToolLike } from './known-tools.js';
import type { Provider } from './provider.js';
import { type Recording, readRecording } from './read-recording.js';
import { listTitles, PROVIDERS, providerOf, WIRE_FORMATS, type WireFormat } from './registry.js';
import {
  type ReadCalls,
  type ResponseCalls,
  toNoResponse,
  toReadCalls,
  toResponseCalls,
  toUnknown,
} from './response-calls.js';
import { describeValue } from './unknown-value.js';

export interface ReadOptions {
  /**
   * The known format of the response, which also sets the type of the answer. If absent: it is detected. Input
   * that does not match the format has `shape` `unknown`.
   */
  readonly format?: WireFormat;
  /**
   * The tools that the model was shown with `describeTools`: shortened names are restored, free text is
   * assigned to an argument, and their names are never mistaken for a provider's own tools.
   */
  readonly tools?: readonly ToolLike[];
}

/**
 * Reads the calls of a model's response in any form: a provider's object, its JSON text, the text of its
 * stream (`data:` lines, or JSON lines), or prose with fenced blocks (A012). Never throws on bad input;
 * unreadable calls are among the errors.
 * @throws ToolError `config_invalid` for an unknown option or an invalid value.
 */
export function readCalls<F extends WireFormat>(
  input: unknown,
  options: ReadOptions & { readonly format: F },
): ResponseCalls<F>;
export function readCalls(input: unknown, options?: ReadOptions): ReadCalls;
export function readCalls(input: unknown, options: ReadOptions = {}): ReadCalls {
  checkOptions('readCalls', options, OPTIONS);
  if (options.format !== undefined) providerOf(options.format);
  try {
    return typeof input === 'string' ? readText(input, options) : readValue(input, options);
  } catch (error) {
    // A caller's getter or proxy may throw anything.
    const why = error instanceof Error ? error.message : 'it throws when it is read';
    return refuse(`Cannot read the input: ${why}`, options);
  }
}

const OPTIONS: OptionRules<{ format: unknown; tools: unknown }> = {
  // `providerOf` refuses other formats, and names the known ones.
  format: option<unknown>(undefined, (value) => value !== null, 'a wire format'),
  ...TOOL_OPTIONS,
};

const EXPECTED = `A response of ${listTitles('or')}, {"id", "name", "args"} or an array of such calls, or text with \`\`\`tool blocks was expected.`;

/** The page of a proxy or load balancer. A model's prose about HTML does not start like this. */
const MARKUP = /^\s*<(?:!doctype\s|html[\s>]|head[\s>]|body[\s>]|\?xml\s)/i;

function readText(text: string, options: ReadOptions): ReadCalls {
  if (text.trim() === '') return refuse(`Cannot read the input: it is empty. ${EXPECTED}`, options);
  if (text.includes('\0')) return refuse(`Cannot read the input: it is binary. ${EXPECTED}`, options);
  const recording = readRecording(text);
  if (recording !== undefined && isWanted(recording.format, options)) {
    return readAs(recording.format, { recording }, options);
  }
  if (MARKUP.test(text) && !text.includes('```'))
    return refuse(
      `Cannot find a call in the input: it is a page of markup, of no known shape. ${EXPECTED}`,
      options,
    );
  // Only formats without JSON recognize text.
  const format = recognize(text);
  if (format !== undefined && isWanted(format, options)) return readAs(format, { input: text }, options);
  try {
    return readValue(parseJson(text), options);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const how = format === undefined ? 'it begins like JSON but is not JSON' : 'it is not JSON';
    return refuse(`Cannot read the input: ${how}: ${error.detail}`, options);
  }
}

function readValue(value: unknown, options: ReadOptions): ReadCalls {
  const format = recognize(value, options);
  if (format !== undefined) return readAs(format, { input: value }, options);
  const shape = options.format === undefined ? 'no known shape' : `another shape than ${options.format}`;
  return refuse(
    `Cannot find a call in the input: it is ${describeValue(value)} of ${shape}. ${EXPECTED}`,
    options,
  );
}

function recognize(input: unknown, options: ReadOptions = {}): WireFormat | undefined {
  return WIRE_FORMATS.find(
    (candidate) => isWanted(candidate, options) && PROVIDERS[candidate].recognizes(input),
  );
}

function isWanted(candidate: WireFormat, { format = candidate }: ReadOptions): boolean {
  return candidate === format;
}

/** A response, whole or as stream events. */
type Source = { readonly input: unknown } | { readonly recording: Recording };

function readAs(format: WireFormat, source: Source, options: ReadOptions): ReadCalls {
  const provider = providerOf(format);
  const tools = new KnownTools(provider.names, options.tools);
  const collector = new CallCollector(tools);
  if ('recording' in source) replay(provider, source.recording, tools, collector);
  else {
    collector.setId(provider.idOf(source.input));
    collector.add(provider.read(source.input, tools));
  }
  return toReadCalls(toResponseCalls(format, collector));
}

function replay(
  provider: Provider,
  { events, rest }: Recording,
  tools: KnownTools,
  collector: CallCollector,
): void {
  const assembler = provider.createAssembler(tools);
  for (const event of events) {
    collector.setId(provider.idOf(event));
    collector.add(assembler.push(event));
  }
  const left = assembler.end();
  // Unreadable input is the end of an unfinished call; without one, it may be a call itself.
  collector.add(left.length > 0 ? left : rest);
}

/** Without a named format, the model can get the error in our own format. */
function refuse(message: string, { format }: ReadOptions): ReadCalls {
  return format === undefined ? toUnknown(message) : toReadCalls(toNoResponse(format, message));
}
