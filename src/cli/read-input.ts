import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { ReadError, ToolCall } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import { ReadFailure, readTextFile } from '../platform/fs/read-file.js';
import type { Stdio } from '../platform/runtime/stdio.js';
import type { CallOrigin } from '../providers/call-origin.js';
import { readCalls } from '../providers/read-calls.js';
import type { WireFormat } from '../providers/registry.js';
import type { ReadCalls } from '../providers/response-calls.js';
import { UsageError } from './cli-context.js';

const MAX_BYTES = 64 * 1024 * 1024;

interface SourceText {
  /** For messages: the quoted file name, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a file, or standard input for `-` or without a name.
 * @param keepMark whether to keep a byte order mark
 * @throws UsageError with one line: the problem, the reason and the remedy.
 */
export async function readSource(
  source: string | undefined,
  stdio: Stdio,
  keepMark = false,
): Promise<SourceText> {
  const name = source === undefined || source === '-' ? 'standard input' : `"${source}"`;
  if (source === undefined && stdio.stdin.isTerminal) {
    throw new UsageError(
      `Cannot read ${name}: it is a terminal. Name a file, pipe something in, or say - to type.`,
    );
  }
  try {
    const fromStdin = source === undefined || source === '-';
    return {
      name,
      text: fromStdin
        ? await stdio.stdin.readText(MAX_BYTES, keepMark)
        : readTextFile(source, MAX_BYTES, keepMark),
    };
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error;
    throw new UsageError(`Cannot read ${name}: ${error.reason} ${error.remedy}`, { cause: error });
  }
}

export interface ModelResponse {
  /** The original text, which identifies the delivery. */
  readonly text: string;
  readonly format: WireFormat;
  readonly calls: readonly ToolCall[];
  readonly errors: readonly ReadError[];
  /** The form of each call in the response, for its answer. */
  readonly origins?: readonly CallOrigin[];
}

/** A model's response from a file or standard input. @throws UsageError if it is not one. */
export async function readResponse(source: string | undefined, stdio: Stdio): Promise<ModelResponse> {
  const { name, text } = await readSource(source, stdio);
  if (text.trim() === '') {
    throw new UsageError(
      `Cannot read ${name}: it is empty. A model's response with its tool calls was expected.`,
    );
  }
  const read = readCalls(text);
  const [problem] = read.errors;
  if (problem !== undefined && (read.shape === 'unknown' || isOnlyUnfinished(read))) {
    throw new UsageError(`Cannot read ${name}: ${withoutOpening(problem.message)}`);
  }
  return { text, ...read };
}

/** Nothing to run or answer: the response was cut off. */
function isOnlyUnfinished({ calls, errors }: ReadCalls): boolean {
  return calls.length === 0 && errors.length === 1 && errors[0]?.unfinished === true;
}

// The message was written for a model and names no file.
function withoutOpening(message: string): string {
  return message.replace(/^Cannot (?:read|find a call in) the input: /, '');
}

/** Parses a tool's arguments as typed by a person. @throws UsageError for anything but a JSON object */
export function parseArguments(text: string): JsonObject {
  const value = parse(text);
  if (isObject(value)) return value;
  throw new UsageError(
    `Cannot read the arguments: a JSON object was expected, such as {"path":"README.md"}.`,
  );
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new UsageError(`Cannot read the arguments: ${error.detail} Send a JSON object.`, { cause: error });
  }
}

// Just parsed from JSON, so an object contains only JSON.
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
