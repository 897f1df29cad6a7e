import { FairQueue } from './fair-queue.js';
import { type CallRunner, documentOf, type ExternalCall, stopped } from './run-tool.js';

/** For all tools, or by name. */
export type ConcurrencyLimits = number | Readonly<Record<string, number>>;

/** Limits the concurrent calls of a tool to the lower of its document's and the options' limit. */
export function limitCalls(limits: ConcurrencyLimits | undefined, next: CallRunner): CallRunner {
  const queues = new Map<string, FairQueue>();
  return async (call) => {
    const limit = limitOf(call, limits);
    const known = queues.get(call.name);
    if (known === undefined && limit === Number.POSITIVE_INFINITY) return next(call);
    const queue = known ?? new FairQueue(limit);
    queues.set(call.name, queue);
    // The document may differ from that of the previous call.
    queue.limit = limit;
    const giveBack = queue.tryTake() ?? (await turn(queue, call));
    try {
      return await next(call);
    } finally {
      giveBack();
    }
  };
}

/** @throws ToolError if the call is stopped during the wait. */
export async function turn(queue: FairQueue, call: ExternalCall): Promise<() => void> {
  try {
    return await queue.take(call.ctx.memory, call.signal);
  } catch {
    throw stopped(call);
  }
}

function limitOf(call: ExternalCall, limits: ConcurrencyLimits | undefined): number {
  const own = documentOf(call)?.maxConcurrent ?? Number.POSITIVE_INFINITY;
  const given = typeof limits === 'object' ? limits[call.name] : limits;
  return Math.min(own, given ?? Number.POSITIVE_INFINITY);
}
