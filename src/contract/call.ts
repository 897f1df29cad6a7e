import type { ErrorCode } from '../errors/catalogue.js';
import type { JsonObject, JsonValue } from './json.js';

export type Awaitable<T> = T | Promise<T>;

/**
 * A tool call from a model's response.
 * @typeParam Args `unknown` for a framework that passes the model's arguments on unchecked. Planning refuses anything
 *   but a JSON object (`bad_args`).
 */
export interface ToolCall<Args = JsonObject> {
  /** The id that the result refers to: the provider's, or `call_<index>` with `madeUp`. */
  readonly id: string;
  readonly name: string;
  readonly args: Args;
  /** The model's reason for the call, if the format carries one. */
  readonly reason?: string;
  /** The response gave no id, so the reader numbered the call. `id` is unique only within its response. */
  readonly madeUp?: true;
  /** The id of the response, if it has one. Only with `madeUp`, where it is part of the call's identity. */
  readonly turn?: string;
}

/** A call that cannot be read. It gets a `bad_args` result in its place and is never dropped. */
export interface ReadError {
  /** Position among all calls of the response, readable or not, from 0. */
  readonly index: number;
  /** The model's id, or `call_<index>`. Absent if the whole input was not understood. */
  readonly id?: string;
  readonly name?: string;
  /** For the model: the fault, and a correct way to send the call. */
  readonly message: string;
  /** The text or stream ended inside this call, so the transport may have cut it off. */
  readonly unfinished?: true;
}

/** Whether a failed call may have had effects: `no` before its start, `maybe` if that is not known. */
export type Executed = 'no' | 'yes' | 'maybe';

export interface ResultError {
  readonly code: ErrorCode;
  readonly message: string;
  /**
   * A remedy for the developer or the person. It is never sent to a provider, and `message` is complete
   * without it.
   */
  readonly hint?: string;
  /** Always contains `executed`. */
  readonly details?: JsonObject;
}

interface ResultBase {
  readonly callId: string;
  /** The name that was called, even if it is an alias. */
  readonly toolName: string;
  /** The tool's output, also for a failed call. Sanitized, redacted and truncated. */
  readonly output: string;
  readonly truncated: boolean;
  /** An opaque URI of the full output. */
  readonly outputRef?: string;
  readonly executionTimeMs: number;
  /** Additional facts from the tool: `exit_code`, `path`, … */
  readonly metadata: JsonObject;
  /** The tool's JSON value. If the tool has an output schema, it matches that schema. */
  readonly structured?: JsonValue;
  /**
   * The content blocks in order. A block over the size limit is replaced by a line of text. `output`
   * describes the blocks in words, unless the tool gave its own text. Binary data does not count against text
   * limits.
   */
  readonly content?: readonly ContentBlock[];
}

export interface ToolSuccess extends ResultBase {
  readonly success: true;
  readonly error?: undefined;
}

export interface ToolFailure extends ResultBase {
  readonly success: false;
  readonly error: ResultError;
}

/** The result of a call: exactly one per call, in call order (D106). */
export type ToolResult = ToolSuccess | ToolFailure;

/** Plain text: neutralized, redacted and truncated like `output`. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** An image or audio clip, as bytes. */
export interface MediaBlock {
  readonly type: 'image' | 'audio';
  /** For example `image/png` or `audio/wav`. */
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** A link to a resource that is stored elsewhere. */
export interface ResourceLinkBlock {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly mediaType?: string;
  readonly description?: string;
}

/** A document with its content, either `text` or `data`. A PDF has the media type `application/pdf`. */
export type ResourceBlock = {
  readonly type: 'resource';
  readonly uri: string;
  readonly mediaType?: string;
} & (
  | { readonly text: string; readonly data?: undefined }
  | { readonly data: Uint8Array; readonly text?: undefined }
);

/** One block of a result, named as in MCP. In JSON, `data` is base64. */
export type ContentBlock = TextBlock | MediaBlock | ResourceLinkBlock | ResourceBlock;

/** Replaces a secret. A call that writes it back into a file gets `bad_args` (F024). */
export const REDACTION_MARKER = '[REDACTED]';
