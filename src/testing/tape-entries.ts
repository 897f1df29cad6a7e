import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { ToolResult } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';

/** A recorded call: a `call` line of `toolexec journal export`, or a `CallRecord` of a journal. */
export interface TapeRecord {
  readonly toolName: string;
  readonly args: JsonObject;
  /** If absent: it has no final result, and is not on the tape. */
  readonly result?: ToolResult;
  readonly callId?: string;
  readonly conversation?: string;
}

/** A recorded call with its answer. */
export interface TapeEntry extends TapeRecord {
  readonly result: ToolResult;
}

/**
 * Reads a recording: the text of an export, its lines as objects, or records. Lines of other kinds are
 * skipped.
 * @throws ToolError `config_invalid` for an invalid record, with its position.
 */
export function toTapeRecords(recorded: string | Iterable<unknown>): readonly TapeRecord[] {
  const values = typeof recorded === 'string' ? parseLines(recorded) : listOf(recorded);
  return values.flatMap((value, at) => {
    if (!isObject(value)) throw refuse(at, 'it is not an object');
    if ('kind' in value && value.kind !== 'call') return [];
    if (!isRecord(value))
      throw refuse(at, 'a call needs "toolName", "args" and, once it is settled, "result"');
    return [value];
  });
}

function listOf(recorded: unknown): readonly unknown[] {
  if (typeof recorded === 'object' && recorded !== null && Symbol.iterator in recorded)
    return [...(recorded as Iterable<unknown>)];
  const what = recorded === null ? 'null' : `a value of type ${typeof recorded}`;
  throw new ToolError(
    'config_invalid',
    `Cannot make a tape of ${what}: give what "toolexec journal export" wrote, as text or as its lines, or records of a journal.`,
  );
}

/** A long output is one value; a batch has few values. */
const LIMITS = { maxDepth: 512, maxValues: 1_000_000 };

function parseLines(text: string): readonly unknown[] {
  const values: unknown[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(parseJson(line, LIMITS));
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      throw refuse(at, error.detail);
    }
  }
  return values;
}

function isRecord(value: object): value is TapeRecord {
  const { toolName, args, result }: { readonly [key: string]: unknown } = { ...value };
  if (typeof toolName !== 'string' || !isObject(args)) return false;
  return result === undefined || (isObject(result) && 'output' in result && 'success' in result);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(at: number, problem: string): ToolError {
  const sentence = problem.endsWith('.') ? problem : `${problem}.`;
  return new ToolError('config_invalid', `Cannot make a tape: record ${at + 1}: ${sentence}`);
}
