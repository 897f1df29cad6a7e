import type { Executed, ToolResult } from '../../contract/call.js';
import type { MiddlewareContext } from '../../contract/context.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import type { Outcome } from '../answer/outcome.js';
import { fromThrow, panic } from '../answer/thrown.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import { type CallScope, runInScope } from '../call/unhandled-errors.js';

interface Layers {
  readonly ready: ReadyCall;
  readonly scope: BatchScope;
  readonly handles: { readonly signal: AbortSignal };
  /**
   * The scope of middleware: calls that middleware makes do not wait behind this call, and its errors are treated as
   * errors of the host program.
   */
  readonly inner: CallScope;
  /** Runs the tool. */
  readonly innermost: () => Promise<ToolResult>;
  /** Checks the answer of a middleware. */
  readonly adopt: (answer: unknown) => ToolResult;
}

/**
 * Runs the tool inside the middleware; the first middleware is the outermost (A018). Rejects with any error
 * that middleware throws.
 */
export function runMiddleware(layers: Layers): Promise<ToolResult> {
  return runLayer(layers, contextOf(layers), 0);
}

function contextOf({ ready, scope, handles }: Layers): MiddlewareContext {
  return {
    conversation: scope.conversation,
    effects: ready.declared,
    risk: ready.risk,
    get signal() {
      return handles.signal;
    },
    dryRun: scope.dryRun,
    logger: scope.settings.logger,
  };
}

function runLayer(layers: Layers, context: MiddlewareContext, depth: number): Promise<ToolResult> {
  const { ready, scope, inner, innermost, adopt } = layers;
  const layer = scope.settings.middleware[depth];
  if (layer === undefined) return innermost();
  const next = onlyOnce(() => runLayer(layers, context, depth + 1));
  return answerOf(() => runInScope(inner, layer, ready.call, context, next), adopt);
}

async function answerOf(run: () => Promise<unknown>, adopt: Layers['adopt']): Promise<ToolResult> {
  return adopt(await run());
}

function onlyOnce(next: () => Promise<ToolResult>): () => Promise<ToolResult> {
  let used = false;
  return () => {
    const result = used
      ? Promise.reject(new ToolError('tool_panicked', 'next() was called twice: a call runs once.'))
      : next();
    used = true;
    // If middleware does not wait for this promise, its rejection must not end the process.
    result.catch(() => {});
    return result;
  };
}

/**
 * A ToolError is the answer that middleware chose: a guard refuses a call with `policy_denied`. Any other
 * throw is a fault of the middleware.
 */
export function middlewareThrew(error: unknown, executed: Executed): Outcome {
  const chosen = readToolError(error);
  if (chosen?.error !== undefined) return { ...chosen, error: { ...chosen.error, executed } };
  const outcome = panic(error);
  const message = outcome.error?.message.replace(/^Tool/, 'Middleware') ?? 'Middleware panicked';
  return { ...outcome, error: { code: 'tool_panicked', message, executed, cause: error } };
}

function readToolError(error: unknown): Outcome | undefined {
  try {
    return isToolError(error) && error.code !== 'tool_panicked' ? fromThrow(error, 'Middleware') : undefined;
  } catch {
    // Reading the thrown value throws.
    return undefined;
  }
}
