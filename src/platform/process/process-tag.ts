import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { readProcess } from './proc-table.js';
import { sendSignal } from './send-signal.js';
import { workerOfThisProcess } from './worker-of-this-process.js';

/** Hex digits of a tag: where process ids mean the same, which one, and when it was started. */
export const TAG_DIGITS = 24;

/**
 * This process, in a way that others can find out whether it still runs. Process ids are used again, so its start is
 * a part of it; and another container or machine has ids of its own, so the place where they hold is one too.
 */
export function ownTag(): string {
  const { pid, startTicks = 0 } = workerOfThisProcess();
  own ??= place() + hex(pid) + hex(startTicks);
  return own;
}

/** What has become of the process that wrote a tag. `unknown`: it cannot be told from here. */
export function fateOf(tag: string): 'alive' | 'gone' | 'unknown' {
  if (!TAG.test(tag) || tag.slice(0, 8) !== place()) return 'unknown';
  const pid = pidOf(tag);
  const found = readProcess(pid);
  // Others' processes may be hidden in /proc; a signal finds them all the same.
  if (found === undefined) return sendSignal(pid, 0) === 'gone' ? 'gone' : 'unknown';
  return found.alive && hex(found.startTicks) === tag.slice(16) ? 'alive' : 'gone';
}

export function pidOf(tag: string): number {
  return Number.parseInt(tag.slice(8, 16), 16);
}

let own: string | undefined;
let ownPlace: string | undefined;

const TAG = new RegExp(`^[0-9a-f]{${TAG_DIGITS}}$`);

/** Where process ids hold: this start of the machine, and this container. */
function place(): string {
  ownPlace ??= createHash('sha256')
    .update(workerOfThisProcess().system ?? hostname())
    .digest('hex')
    .slice(0, 8);
  return ownPlace;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
