import type { ToolCall } from '../../contract/call.js';
import type { Middleware, MiddlewareContext } from '../../contract/middleware.js';
import type { ToolResult } from '../../contract/result.js';
import { ToolError } from '../../errors/tool-error.js';

export interface Onion {
  readonly call: ToolCall;
  readonly context: MiddlewareContext;
  readonly inner: () => Promise<ToolResult>;
  /** Makes what a layer returned a result, so that the layer around it never sees anything else. */
  readonly adopt: (returned: unknown) => ToolResult;
}

/** Runs `inner` inside the middleware, the first outermost (A018). Rejects with what a middleware throws. */
export function runOnion(layers: readonly Middleware[], onion: Onion): Promise<ToolResult> {
  const { call, context, inner, adopt } = onion;
  const enter = async (depth: number): Promise<ToolResult> => {
    const layer = layers[depth];
    if (layer === undefined) return inner();
    return adopt(
      await layer(
        call,
        context,
        onlyOnce(() => enter(depth + 1)),
      ),
    );
  };
  return enter(0);
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
