import { inspect, isDeepStrictEqual } from 'node:util';
import type { ToolResult } from '../contract/call.js';
import type { BatchEntry, CallEntry, Worker } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import type { ErrorCode } from '../errors/catalogue.js';

export const WORKER: Worker = { id: 'worker-1', pid: 4711, startedAt: 1_700_000_000_123 };
export const OTHER_WORKER: Worker = { id: 'worker-2', pid: 4712, startedAt: 1_700_000_000_456 };

/** A call entry with every recorded field. */
export function callEntry(callId: string, args: JsonObject = { path: 'a.txt' }): CallEntry {
  return {
    callId,
    toolName: 'write_file',
    args,
    effects: [{ kind: 'write', path: 'a.txt' }],
    disposition: 'requires_confirmation',
    reason: 'It writes.',
  };
}

/** A call with a made-up id. */
export function madeUpEntry(callId: string, turn?: string, args?: JsonObject): CallEntry {
  return { ...callEntry(callId, args), madeUp: true, ...(turn === undefined ? {} : { turn }) };
}

export function batchEntry(
  id: string,
  calls: readonly CallEntry[],
  options: Partial<BatchEntry> = {},
): BatchEntry {
  return { id, conversation: 'conversation', attach: false, at: 1_700_000_001_000, calls, ...options };
}

export function successOf(callId: string, output = 'done'): ToolResult {
  return {
    callId,
    toolName: 'write_file',
    success: true,
    output,
    truncated: false,
    executionTimeMs: 1.5,
    metadata: { path: 'a.txt' },
  };
}

/** A result with an image between texts. */
export function pictureOf(callId: string, data: Uint8Array, output = 'done'): ToolResult {
  const content: ToolResult['content'] = [
    { type: 'text', text: 'before' },
    { type: 'image', mediaType: 'image/png', data },
    { type: 'resource', uri: 'file:///a.txt', text: 'inside' },
    { type: 'resource', uri: 'file:///a.pdf', mediaType: 'application/pdf', data },
  ];
  return { ...successOf(callId, output), content };
}

export function failureOf(callId: string, code: ErrorCode = 'cancelled'): ToolResult {
  return {
    callId,
    toolName: 'write_file',
    success: false,
    output: '',
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
    error: { code, message: 'Cancelled by user.', details: { executed: 'no' } },
  };
}

/** @throws Error that shows both values, unless they are deeply and strictly equal. */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** @throws Error if `value` is undefined. */
export function assertPresent<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what}: expected a value, got undefined`);
  return value;
}

function show(value: unknown): string {
  return inspect(value, { depth: 8, breakLength: 100 });
}
