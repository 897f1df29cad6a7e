import type { Executed, ToolCall, ToolResult } from '../../contract/call.js';
import type { Middleware, MiddlewareContext } from '../../contract/context.js';
import { ToolError } from '../../errors/tool-error.js';
import type { Outcome } from '../answer/outcome.js';
import { panic } from '../answer/thrown.js';
import { type CallScope, runInScope } from '../call/unhandled-errors.js';

interface Layers {
  readonly middleware: readonly Middleware[];
  readonly call: ToolCall;
  readonly context: MiddlewareContext;
  /** What a layer makes itself belongs to this: calls do not wait behind its own, errors stay the host program's. */
  readonly inner: CallScope;
  /** Runs the tool. */
  readonly innermost: () => Promise<ToolResult>;
  /** Checks what a layer has answered. */
  readonly adopt: (answer: unknown) => ToolResult;
}

/** Runs the tool inside the middleware, the first outermost (A018). Rejects with what a layer throws. */
export function runMiddleware(layers: Layers, depth = 0): Promise<ToolResult> {
  const { middleware, call, context, inner, innermost, adopt } = layers;
  const layer = middleware[depth];
  if (layer === undefined) return innermost();
  const next = onlyOnce(() => runMiddleware(layers, depth + 1));
  return answerOf(() => runInScope(inner, layer, call, context, next), adopt);
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
    // Middleware that does not wait for it must not end the process.
    result.catch(() => {});
    return result;
  };
}

export function middlewarePanic(error: unknown, executed: Executed): Outcome {
  const outcome = panic(error);
  const message = outcome.error?.message.replace(/^Tool/, 'Middleware') ?? 'Middleware panicked';
  return { ...outcome, error: { code: 'tool_panicked', message, executed, cause: error } };
}
