import type { ErrorCode } from '../errors/catalogue.js';
import type { JsonObject, JsonValue } from './json.js';

export type Awaitable<T> = T | Promise<T>;

/** A call as the model asked for it. */
export interface ToolCall {
  /** What the result answers to: the provider's own, or `call_<index>` with `madeUp`. */
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** Why the model wants it, where the format carries that. */
  readonly reason?: string;
  /** The response gave no id, so the reader numbered the call: `id` is unique only within its response. */
  readonly madeUp?: true;
  /**
   * The id of the response that the call came in, where it has one. Only with `madeUp`: there it is a part of the
   * call's identity.
   */
  readonly turn?: string;
}

/** A call that was asked for and cannot be read. It is answered in its place (`bad_args`), never dropped. */
export interface ReadError {
  /** Its position among all calls of the response, readable or not; from 0. */
  readonly index: number;
  /** The model's own, or `call_<index>`; left out when the input as a whole was not understood. */
  readonly id?: string;
  readonly name?: string;
  /** For the model: what was wrong, and what to send instead. */
  readonly message: string;
  /** The text or the stream ended inside it: what was cut off may only be the delivery. */
  readonly unfinished?: true;
}

/** Whether a failed call can have had effects: `no` before its start, `maybe` when it cannot be known. */
export type Executed = 'no' | 'yes' | 'maybe';

export interface ResultError {
  readonly code: ErrorCode;
  readonly message: string;
  /**
   * What the developer or the person can do about it. No provider is sent it, and `message` is understood without it.
   */
  readonly hint?: string;
  /** Always holds `executed`. */
  readonly details?: JsonObject;
}

interface ResultBase {
  readonly callId: string;
  /** The name that was called, also where it is an alias. */
  readonly toolName: string;
  /** What the tool produced; kept for a failure too. Sanitised, redacted, truncated. */
  readonly output: string;
  readonly truncated: boolean;
  /** An opaque URI under which the untruncated output can still be read. */
  readonly outputRef?: string;
  readonly executionTimeMs: number;
  /** What the tool adds: `exit_code`, `path`, … */
  readonly metadata: JsonObject;
  /** The JSON value that the tool gave; with an output schema, as that says. */
  readonly structured?: JsonValue;
  /**
   * What the tool gave as blocks, in order. A block that is too large is a line of text here. `output` says all of them
   * in words, unless the tool gave a text of its own. Bytes are not counted against limits of text.
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

/** Exactly one per call, in call order (D106). */
export type ToolResult = ToolSuccess | ToolFailure;

/** Plain text; neutralised, redacted and limited as output is. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** A picture or a sound, as bytes. */
export interface MediaBlock {
  readonly type: 'image' | 'audio';
  /** `image/png`, `audio/wav`, … */
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** Something that can be read elsewhere. */
export interface ResourceLinkBlock {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly mediaType?: string;
  readonly description?: string;
}

/** A document, with its content: exactly one of `text` and `data`. A PDF has the media type `application/pdf`. */
export type ResourceBlock = {
  readonly type: 'resource';
  readonly uri: string;
  readonly mediaType?: string;
} & (
  | { readonly text: string; readonly data?: undefined }
  | { readonly data: Uint8Array; readonly text?: undefined }
);

/** A part of a result, as MCP names them. As JSON, `data` is base64. */
export type ContentBlock = TextBlock | MediaBlock | ResourceLinkBlock | ResourceBlock;

/** Stands where a secret stood. Writing it back into a file is `bad_args` (F024). */
export const REDACTION_MARKER = '[REDACTED]';
