import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { RawCall } from './raw-call.js';
import { PROVIDERS, WIRE_FORMATS, type WireFormat } from './registry.js';

/** A recorded stream. */
export interface Recording {
  readonly format: WireFormat;
  readonly events: readonly unknown[];
  /** The unreadable part: a line that was cut off, or is not JSON. */
  readonly rest: readonly RawCall[];
}

/** The events in a stream's text, as `curl -N` prints it; undefined if it is not one. */
export function readRecording(text: string): Recording | undefined {
  const data = splitEvents(text) ?? splitLines(text);
  const [first] = data ?? [];
  if (data === undefined || first === undefined) return undefined;
  const events: unknown[] = [];
  for (const [index, piece] of data.entries()) {
    const event = parse(piece);
    if (event !== undefined) events.push(event.value);
    else return toRecording(events, index === data.length - 1 ? CUT_OFF : NO_JSON);
  }
  return toRecording(events, undefined);
}

const CUT_OFF: RawCall = {
  problem: 'the stream ends inside an event. Send the call again.',
  unfinished: true,
};
const NO_JSON: RawCall = {
  problem: 'an event of the stream is not valid JSON, and what follows it is not read.',
};

function toRecording(events: readonly unknown[], problem: RawCall | undefined): Recording | undefined {
  const format = WIRE_FORMATS.find((candidate) => PROVIDERS[candidate].recognizesStream?.(events));
  if (format === undefined) return undefined;
  return { format, events, rest: problem === undefined ? [] : [problem] };
}

const FIELD = /^(?:data|event|id|retry)?:/;

/** The `data` of server-sent events: lines of one event belong together, and an empty line ends it. */
function splitEvents(text: string): readonly string[] | undefined {
  const start = text.trimStart();
  // Only the start is tested, because a pattern may scan a whole long text.
  if (!FIELD.test(start.slice(0, 10))) return undefined;
  const events: string[] = [];
  let data: string[] = [];
  const finish = (): void => {
    // OpenAI's end marker.
    if (data.length > 0 && data.join('\n') !== '[DONE]') events.push(data.join('\n'));
    data = [];
  };
  for (const line of start.split(/\r\n|\n|\r/)) {
    if (line === '') finish();
    else if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    // If a filter removed the empty lines, every event name starts a new event.
    else if (line.startsWith('event:')) finish();
    else if (!FIELD.test(line)) return undefined;
  }
  finish();
  return events;
}

/** One JSON object per line, at least two. */
function splitLines(text: string): readonly string[] | undefined {
  const start = text.trim();
  const end = start.indexOf('\n');
  // Most JSON is one line, or starts with an incomplete line.
  if (!start.startsWith('{') || end === -1 || parse(start.slice(0, end)) === undefined) return undefined;
  return start.split('\n').filter((line) => line.trim() !== '');
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return undefined;
  }
}
