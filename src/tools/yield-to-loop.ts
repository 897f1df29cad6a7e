import type { ToolContext } from '../contract/context.js';
import { ToolError } from '../errors/tool-error.js';

/**
 * Lets timers and cancellation run during long synchronous work (C-03).
 * @throws ToolError `cancelled` if the call was aborted meanwhile.
 */
export async function yieldToLoop(ctx: Pick<ToolContext, 'signal'>): Promise<void> {
  await new Promise<void>((done) => {
    setImmediate(done);
  });
  throwIfAborted(ctx);
}

/** @throws ToolError `cancelled` if the call was aborted; the executor words the reason. */
export function throwIfAborted(ctx: Pick<ToolContext, 'signal'>): void {
  if (ctx.signal.aborted) throw new ToolError('cancelled', 'Cancelled by user', { cause: ctx.signal.reason });
}
