import type { ToolAgents } from './agents.js';
import type { ToolCall, ToolResult } from './call.js';
import type { Effect, Risk } from './effect.js';
import type { ContainedFiles } from './files.js';
import type { ToolHttp } from './http.js';
import type { JsonObject } from './json.js';
import type { Question, QuestionAnswer } from './question.js';
import type { ToolSearch } from './search.js';
import type { ToolProcesses } from './tool-processes.js';

/**
 * Values that tools keep for one conversation, for example files read and todo lists. In memory; each tool
 * chooses its own keys.
 */
export type ConversationMemory = Map<string, unknown>;

export interface ContextLimits {
  readonly maxOutputBytes: number;
  /** Limit for all images, audio and documents in one result. */
  readonly maxContentBytes: number;
  readonly availableCapacityBytes: number;
  readonly maxApplyPatchBytes: number;
  readonly maxFileReadBytes: number;
  readonly maxReadFileScanBytes: number;
}

/**
 * Everything that a tool may use, created for each call (D030). The handles allow only the declared effects
 * (otherwise `sandbox_violation`), and stop working when the call is answered.
 */
export interface ToolContext {
  readonly callId: string;
  /**
   * Aborts on cancellation and timeout; its reason is a ToolError with that code. If the tool continues, the
   * call is answered without it, and its handles no longer work.
   */
  readonly signal: AbortSignal;
  /** Absolute: the working directory of the sandbox. */
  readonly cwd: string;
  readonly files: ContainedFiles;
  readonly search: ToolSearch;
  readonly processes: ToolProcesses;
  /** `fetch`, limited to the addresses that the call has declared. */
  readonly http: ToolHttp;
  readonly memory: ConversationMemory;
  /**
   * Asks the person. One answer per question, undefined for a question without an answer. Needs the effect
   * `ask`, or `call`: a remote service may ask. Undefined if no person can be asked.
   */
  readonly ask?:
    | ((questions: readonly Question[]) => Promise<readonly QuestionAnswer[] | undefined>)
    | undefined;
  /** Runs sub-agents. Undefined if they are not available. */
  readonly agents?: ToolAgents | undefined;
  /** Shows output while it is produced. Await it to keep pace with the reader. */
  emit(text: string, stream?: 'stdout' | 'stderr'): void | Promise<void>;
  readonly limits: ContextLimits;
  readonly dryRun: boolean;
  /** The same for every delivery of this call. Pass it to services that support idempotency keys. */
  readonly idempotencyKey: string;
  /**
   * W3C headers (`traceparent`, `tracestate`, `baggage`) for services that the tool asks. Commands have them in their
   * environment. Absent or empty without telemetry.
   */
  readonly trace?: Readonly<Record<string, string>>;
  readonly logger: Logger;
}

/** A source of time. Tests provide their own. */
export interface Clock {
  /** Milliseconds since the epoch, for records. */
  now(): number;
  /** Milliseconds that never jump back, for durations. */
  monotonic(): number;
  /** Calls back once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The argument order of pino, so a pino logger fits. */
export interface Logger {
  debug(data: JsonObject, message: string): void;
  info(data: JsonObject, message: string): void;
  warn(data: JsonObject, message: string): void;
  error(data: JsonObject, message: string): void;
}

export interface MiddlewareContext {
  readonly conversation: string;
  readonly effects: readonly Effect[];
  readonly risk: Risk;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
  readonly logger: Logger;
}

/**
 * Wraps the execution of every approved call; the first middleware is the outermost. It must return a result:
 * its own or the one from `next`. A second call of `next` is an error, so nothing runs twice. A thrown
 * `ToolError` is the call's failure, with its code (`policy_denied`); any other throw becomes `tool_panicked`.
 * `call.args` are the approved arguments, and `next` runs exactly those.
 */
export type Middleware = (
  call: ToolCall,
  context: MiddlewareContext,
  next: () => Promise<ToolResult>,
) => Promise<ToolResult>;
