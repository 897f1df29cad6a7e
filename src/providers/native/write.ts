import { toBase64 } from '../../base/base64.js';
import type { ContentBlock, ResultError, ToolResult } from '../../contract/call.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { bytesOf } from '../content-words.js';

/** A result in our own JSON format (A027). `error` is present exactly if `success` is false. */
export interface NativeResult {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly success: boolean;
  readonly output: string;
  /** `hint` is for the developer or the person, not for the model. */
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly truncated: boolean;
  /** Milliseconds. */
  readonly execution_time_ms: number;
  readonly metadata: JsonObject;
  readonly output_ref?: string;
  readonly structured?: JsonValue;
  /** The content blocks, with `data` in base64. */
  readonly content?: readonly NativeBlock[];
}

/** A block of a result as JSON. */
export type NativeBlock = { readonly [name: string]: unknown };

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
    ...(result.content === undefined ? {} : { content: result.content.map(toNativeBlock) }),
  }));
}

function toNativeBlock(block: ContentBlock): NativeBlock {
  if (!('data' in block) || block.data === undefined) return { ...block };
  return { ...block, data: toBase64(bytesOf(block)) };
}

function toNativeError({ code, message, hint }: ResultError): NonNullable<NativeResult['error']> {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
