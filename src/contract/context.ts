import type { ToolAgents } from './agents.js';
import type { ToolCall, ToolResult } from './call.js';
import type { Effect, Risk } from './effect.js';
import type { ContainedFiles } from './files.js';
import type { JsonObject } from './json.js';
import type { Question, QuestionAnswer } from './question.js';
import type { ToolSearch } from './search.js';
import type { ToolProcesses } from './tool-processes.js';

/** Values that tools keep for one conversation (what was read, todo lists). In memory; keys are the tool's own. */
export type ConversationMemory = Map<string, unknown>;

export interface ContextLimits {
  readonly maxOutputBytes: number;
  /** Of pictures, sounds and documents in one result. */
  readonly maxContentBytes: number;
  readonly availableCapacityBytes: number;
  readonly maxApplyPatchBytes: number;
  readonly maxFileReadBytes: number;
  readonly maxReadFileScanBytes: number;
}

/**
 * All the world a tool may use, made for each call (D030). The handles give out what the call's effects
 * declare and nothing else (`sandbox_violation`), and die when the call is answered.
 */
export interface ToolContext {
  readonly callId: string;
  /**
   * Aborts on cancellation and timeout; its reason is a ToolError with that code. A tool that goes on afterwards is
   * answered for, and touches nothing.
   */
  readonly signal: AbortSignal;
  /** Absolute: the sandbox's working directory. */
  readonly cwd: string;
  readonly files: ContainedFiles;
  readonly search: ToolSearch;
  readonly processes: ToolProcesses;
  readonly memory: ConversationMemory;
  /**
   * Asks the person; one answer a question, undefined where none is given. Takes the effect `ask`. Undefined: no person
   * can be asked.
   */
  readonly ask?:
    | ((questions: readonly Question[]) => Promise<readonly QuestionAnswer[] | undefined>)
    | undefined;
  /** Sub-agents. Undefined: none can be had here. */
  readonly agents?: ToolAgents | undefined;
  /** Shows output while it is produced. Await it to go no faster than the reader. */
  emit(text: string, stream?: 'stdout' | 'stderr'): void | Promise<void>;
  readonly limits: ContextLimits;
  readonly dryRun: boolean;
  /** Stable over repeated delivery of the same call: hand it to services that know idempotency keys. */
  readonly idempotencyKey: string;
  readonly logger: Logger;
}

/** Time as a value: tests bring their own. */
export interface Clock {
  /** Milliseconds since the epoch, for what is recorded. */
  now(): number;
  /** Milliseconds that never jump back, for durations. */
  monotonic(): number;
  /** Calls back once after `delayMs`; the returned function takes it back. */
  after(delayMs: number, callback: () => void): () => void;
}

/** pino's order of arguments, so that a pino logger fits as it is. */
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
 * Wraps the execution of every approved call; the first is the outermost. Must return a result: its own, or what
 * `next` gave. Calling `next` twice is an error (nothing runs twice); a throw becomes `tool_panicked`.
 * `call.args` are what was approved; `next` runs exactly those.
 */
export type Middleware = (
  call: ToolCall,
  context: MiddlewareContext,
  next: () => Promise<ToolResult>,
) => Promise<ToolResult>;
