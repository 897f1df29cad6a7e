import type { ContentBlock, ResultError, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { restoreResult, sha256, storeBlocks } from '../records/stored-content.js';

/** The maximum size of a result's record in the row of its call, in UTF-8 bytes. */
const MOST_IN_ROW = 65_536;
/** The maximum size of a content in the database. */
export const MOST_IN_DATABASE = 16 * 1024 * 1024;
/** The length to which the output of a too long result is cut, in characters. */
const MOST_LEFT = 65_536;
const MOST_OF_MESSAGE = 2_000;

/** A result in its written form. */
export interface StoredResult {
  /** For the row of the call. */
  readonly text: string;
  /** By their hashes, which the text names. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

interface Stored {
  readonly data: { readonly sha256: string; readonly bytes: number };
}

/**
 * A result as stored in its row. A long record is stored as a content: `stored` names it and then the contents that the
 * record refers to. For versions that do not know `stored`, `output` says that there is more.
 */
type RowResult = ToolResult & { readonly stored?: readonly Stored[]; readonly content?: unknown };

/**
 * @param most the maximum size of a content and of the record, in bytes. A longer block becomes a line of text; a
 *   longer record keeps only the beginning of its output.
 */
export function toStoredResult(result: ToolResult, most: number): StoredResult {
  const contents = new Map<string, Uint8Array>();
  const { content } = result;
  const stored =
    content === undefined
      ? result
      : {
          ...result,
          content: storeBlocks(
            content.map((block) => fitting(block, most)),
            (hash, bytes) => contents.set(hash, bytes),
          ),
        };
  const text = JSON.stringify(stored);
  // A character has at most three bytes for each unit of its length.
  if (text.length * 3 <= MOST_IN_ROW) return { text, contents };
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_IN_ROW) return { text, contents };
  if (bytes.length > most)
    return toStoredResult(shortened(result, bytes.length, most), Number.POSITIVE_INFINITY);
  const named = new Map<string, Uint8Array>([[sha256(bytes), bytes], ...contents]);
  return { text: JSON.stringify(rowOf(result, bytes.length, named)), contents: named };
}

type Find = (hash: string) => Uint8Array | undefined;

/** @param find the content under a hash; undefined if it is lost */
export function fromStoredResult(text: string, find: Find): ToolResult {
  return restoreResult(JSON.parse(readRecord(text, find)), find);
}

/** The record of a result as JSON. Its blocks name their contents. */
export function readRecord(text: string, find: Find): string {
  const { stored, ...row }: RowResult = JSON.parse(text);
  const [record] = stored ?? [];
  if (record === undefined) return text;
  const { sha256: hash, bytes: size } = record.data;
  const bytes = find(hash);
  if (bytes !== undefined) return Buffer.from(bytes).toString();
  const output = `[The output is lost: its content of ${size} bytes (SHA-256 ${hash}) is no longer stored.]`;
  return JSON.stringify({ ...row, output });
}

function rowOf(result: ToolResult, size: number, contents: ReadonlyMap<string, Uint8Array>): RowResult {
  const { callId, toolName, executionTimeMs, error } = result;
  const common = {
    callId,
    toolName,
    output: `[${size} bytes, stored separately. This version of toolexec cannot read them: update it.]`,
    truncated: true,
    executionTimeMs,
    metadata: {},
    stored: [...contents].map(([hash, { length }]) => ({ data: { sha256: hash, bytes: length } })),
  };
  if (error === undefined) return { ...common, success: true };
  return { ...common, success: false, error: briefly(error) };
}

function briefly({ code, message, details }: ResultError): ResultError {
  const executed: JsonObject = details?.executed === undefined ? {} : { executed: details.executed };
  return { code, message: message.slice(0, MOST_OF_MESSAGE), details: executed };
}

function fitting(block: ContentBlock, most: number): ContentBlock {
  const data = 'data' in block ? block.data : undefined;
  if (data === undefined || data.length <= most) return block;
  return { type: 'text', text: `[${block.type}, ${data.length} bytes: ${tooLong(most)}]` };
}

/** A too long result, cut to its beginning, with a note at its end. */
function shortened(result: ToolResult, size: number, most: number): ToolResult {
  const { callId, toolName, executionTimeMs, outputRef, error } = result;
  const rest = {
    callId,
    toolName,
    output: `${result.output.slice(0, MOST_LEFT)}\n[The result has ${size} bytes: ${tooLong(most)}.]`,
    truncated: true,
    ...(outputRef === undefined ? {} : { outputRef }),
    executionTimeMs,
    metadata: {},
  };
  return error === undefined
    ? { ...rest, success: true }
    : { ...rest, success: false, error: briefly(error) };
}

function tooLong(most: number): string {
  return `too long for this journal, which keeps at most ${most} bytes`;
}
