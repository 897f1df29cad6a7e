import { setTimeout } from 'node:timers/promises';

/** Resolves after `delayMs`; keeps the process alive until then. */
export function pause(delayMs: number): Promise<void> {
  return setTimeout(delayMs);
}
