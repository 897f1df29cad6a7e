import type { ToolCall } from '../contract/call.js';
import { settleArguments } from '../schema/settle-arguments.js';

/** Copies of calls that wait, so that what runs is what was asked for. What is no call stays, for the engine to say so. */
export function holdCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  return calls.map(holdCall);
}

function holdCall(call: ToolCall): ToolCall {
  try {
    const { id, name, args, reason } = call;
    const settled = settleArguments(args, { maxBytes: Number.POSITIVE_INFINITY });
    if (!settled.ok) return call;
    return { id, name, args: settled.value, ...(reason === undefined ? {} : { reason }) };
  } catch {
    return call;
  }
}
