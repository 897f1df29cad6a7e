import type { ToolContext } from '../contract/context.js';

/** Bytes that an answer may take which limits itself. */
export function outputLimit({ limits }: ToolContext): number {
  return Math.min(limits.maxOutputBytes, limits.availableCapacityBytes);
}
