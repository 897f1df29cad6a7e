import type { ErrorCode } from '../errors/catalogue.js';
import type { ContentBlock } from './content.js';
import type { JsonObject, JsonValue } from './json.js';

/** Whether a failed call can have had effects: `no` before its start, `maybe` when nobody can say. */
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
