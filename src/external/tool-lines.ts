import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import { decodeStrictly } from './decode-output.js';

/** A line of a program, during its work or at its end. */
export type ToolLine =
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'stdout'; readonly text: string }
  | { readonly type: 'result'; readonly value: unknown }
  | { readonly type: 'error'; readonly message: string }
  /** It is listening. */
  | { readonly type: 'pong' };

/** The request that a line belongs to; undefined if the line does not say. */
export type Addressed = ToolLine & { readonly id: string | undefined };

/** A model could not read a result with deeper nesting. */
const LIMITS = { maxDepth: 256, maxValues: 5_000_000 };

/** Parses a line. `fault` completes the sentence "it failed: …". */
export function readToolLine(bytes: Uint8Array): Addressed | { readonly fault: string } {
  const text = decodeStrictly(bytes);
  if (text === undefined) return { fault: 'it wrote a line that is not UTF-8 text' };
  let value: unknown;
  try {
    value = parseJson(text, LIMITS);
  } catch (error) {
    const why = error instanceof JsonTextError ? error.detail : 'it cannot be read';
    return { fault: `it wrote a line that is not JSON: ${why}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { fault: 'it wrote a line that is not a JSON object' };
  }
  const members = value as Readonly<Record<string, unknown>>;
  const { id } = members;
  if (id !== undefined && typeof id !== 'string')
    return { fault: 'it wrote a line whose "id" is not a text' };
  const line = lineOf(members);
  return 'fault' in line ? line : { ...line, id };
}

function lineOf(members: Readonly<Record<string, unknown>>): ToolLine | { readonly fault: string } {
  const { type } = members;
  if (type === 'result') {
    return 'value' in members
      ? { type, value: members.value }
      : { fault: 'it wrote a result without a "value"' };
  }
  if (type === 'pong') return { type };
  if (type === 'error') return withText(type, members.message, (message) => ({ type, message }));
  if (type === 'stdout') return withText(type, members.text, (text) => ({ type, text }));
  if (type === 'progress') {
    const { message = '', percent } = members;
    const done = typeof percent === 'number' ? `${Math.round(percent)}% ` : '';
    return withText(type, message, (text) => ({ type, text: `${`${done}${text}`.trimEnd()}\n` }));
  }
  return { fault: 'it wrote a line whose "type" is not one of progress, stdout, result, error and pong' };
}

function withText(
  type: string,
  given: unknown,
  make: (text: string) => ToolLine,
): ToolLine | { readonly fault: string } {
  return typeof given === 'string' ? make(given) : { fault: `it wrote a line "${type}" without a text` };
}

/** Splits bytes into lines and skips empty ones. */
export class LineSplitter {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  /** @param maxBytes of one line. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns the complete lines; undefined if one is too long. */
  push(chunk: Uint8Array): readonly Uint8Array[] | undefined {
    const lines: Uint8Array[] = [];
    let from = 0;
    for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, from)) {
      this.#keep(chunk.subarray(from, at));
      if (this.#length > this.#maxBytes) return undefined;
      if (this.#length > 0) lines.push(this.take());
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
    return this.#length > this.#maxBytes ? undefined : lines;
  }

  /** The incomplete line. */
  take(): Uint8Array {
    const [first] = this.#chunks;
    const line = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    return line;
  }

  /** No part of another line has arrived. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#chunks.push(part);
    this.#length += part.length;
  }
}

const LINE_END = 0x0a;
