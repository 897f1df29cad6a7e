import type { Executed, ToolCall, ToolFailure, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ReadyCall } from '../call/evaluated-call.js';

const NOTHING: JsonObject = Object.freeze({});
const NOT_RUN: JsonObject = Object.freeze({ executed: 'no' });

/** The parts of a call that an answer needs. */
export type NamedCall = Pick<ToolCall, 'id' | 'name'>;

export function nameOf(call: unknown, index: number): NamedCall {
  const { id, name } = (typeof call === 'object' && call !== null ? call : {}) as Partial<ToolCall>;
  return {
    id: typeof id === 'string' && id !== '' ? id : `call_${index}`,
    name: typeof name === 'string' ? name : 'unknown',
  };
}

// The answer to a call that has no other answer. This cannot happen as long as every path answers its call;
// it exists because every call must get an answer.
export function lost(call: NamedCall): ToolResult {
  return failure(call, 'outcome_unknown', 'The call ended without an answer.', 'maybe');
}

/** The answer to a call that never started. The message must already be clean. */
export function notRun(
  call: NamedCall,
  code: ErrorCode,
  message: string,
  details: JsonObject = NOTHING,
  metadata: JsonObject = NOTHING,
  hint?: string,
): ToolFailure {
  return failure(call, code, message, 'no', { details, metadata, ...(hint === undefined ? {} : { hint }) });
}

export function failure(
  call: NamedCall,
  code: ErrorCode,
  message: string,
  executed: Executed,
  more: {
    readonly hint?: string;
    readonly details?: JsonObject;
    readonly metadata?: JsonObject;
    readonly output?: string;
    readonly truncated?: boolean;
    readonly executionTimeMs?: number;
  } = {},
): ToolFailure {
  const details =
    executed === 'no' && (more.details === undefined || more.details === NOTHING)
      ? NOT_RUN
      : { ...more.details, executed };
  return {
    callId: call.id,
    toolName: call.name,
    success: false,
    output: more.output ?? '',
    error: { code, message, ...(more.hint === undefined ? {} : { hint: more.hint }), details },
    truncated: more.truncated ?? false,
    executionTimeMs: more.executionTimeMs ?? 0,
    metadata: more.metadata ?? NOTHING,
  };
}

/**
 * The answer of a dry run to a call that would change something: the call did not run, and the person was not
 * asked.
 */
export function dryRunResult({ call, summary }: Pick<ReadyCall, 'call' | 'summary'>): ToolResult {
  return {
    callId: call.id,
    toolName: call.name,
    success: true,
    output: `[Dry Run] ${summary}`,
    truncated: false,
    executionTimeMs: 0,
    metadata: { dry_run: true },
  };
}

/** The thrown value behind each failed result. It exists only in this process. */
const causes = new WeakMap<ToolResult, unknown>();

export function causeOf(result: ToolResult): unknown {
  return causes.get(result);
}

export function rememberCause(result: ToolResult, cause: unknown): void {
  if (cause !== undefined) causes.set(result, cause);
}

/**
 * @throws ToolError if the call failed, with the call's code; `details.output` is the output that was kept
 */
export function outputOf(result: ToolResult): string {
  const { success, output, error } = result;
  if (success) return output;
  const { hint, details } = error;
  throw new ToolError(error.code, error.message, {
    ...(hint === undefined ? {} : { hint }),
    details: { ...details, output },
    cause: causeOf(result),
  });
}

export const CANCELLED_MESSAGE = 'Cancelled by user';
/** Not the person: the host program calls `close()`. */
export const CLOSED_MESSAGE = 'Cancelled: the executor was closed';

const MOST_CHARACTERS = 1_000;

/** Describes a thrown value for a message. The text is bounded, and this function never throws. */
export function reasonOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  } catch {
    // Reading the value can throw: a proxy, a getter, an object without a prototype.
    return 'a value that cannot be shown';
  }
}
