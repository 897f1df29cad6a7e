import type { ToolCall } from './call.js';
import type { Effect, Risk } from './effect.js';
import type { Logger } from './logger.js';
import type { ToolResult } from './result.js';

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
