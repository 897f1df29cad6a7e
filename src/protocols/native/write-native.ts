import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { ResultError, ToolResult } from '../../contract/result.js';

/** A result as our own JSON (A027). `error` is there exactly when `success` is false. */
export interface NativeResult {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly success: boolean;
  readonly output: string;
  /** `hint` speaks to the developer or the person, not to the model. */
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly truncated: boolean;
  /** Milliseconds. */
  readonly execution_time_ms: number;
  readonly metadata: JsonObject;
  readonly output_ref?: string;
  readonly structured?: JsonValue;
}

export function writeNative(results: readonly ToolResult[]): NativeResult[] {
  return results.map((result) => ({
    tool_call_id: result.callId,
    tool_name: result.toolName,
    success: result.success,
    output: result.output,
    ...(result.success ? {} : { error: toNativeError(result.error) }),
    truncated: result.truncated,
    execution_time_ms: result.executionTimeMs,
    metadata: result.metadata,
    ...(result.outputRef === undefined ? {} : { output_ref: result.outputRef }),
    ...(result.structured === undefined ? {} : { structured: result.structured }),
  }));
}

function toNativeError({ code, message, hint }: ResultError): NonNullable<NativeResult['error']> {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
