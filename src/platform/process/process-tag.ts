import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { readProcess } from './proc-table.js';
import { sendSignal } from './send-signal.js';
import { workerOfThisProcess } from './worker-of-this-process.js';

/** Hex digits of a tag: the pid namespace, the pid, and the start time. */
export const TAG_DIGITS = 24;

/**
 * A tag from which other processes can find out whether this process still runs. Process ids are used again,
 * so the tag includes the start time. Other containers and machines have their own ids, so it also includes
 * where the id is valid.
 */
export function ownTag(): string {
  const { pid, startTicks = 0 } = workerOfThisProcess();
  own ??= place() + hex(pid) + hex(startTicks);
  return own;
}

/** Whether the process that wrote a tag is alive. `unknown`: it cannot be found out from here. */
export function fateOf(tag: string): 'alive' | 'gone' | 'unknown' {
  if (!TAG.test(tag) || tag.slice(0, 8) !== place()) return 'unknown';
  const pid = pidOf(tag);
  const found = readProcess(pid);
  // Processes of other users may be hidden in `/proc`, but a signal finds them.
  if (found === undefined) return sendSignal(pid, 0) === 'gone' ? 'gone' : 'unknown';
  return found.alive && hex(found.startTicks) === tag.slice(16) ? 'alive' : 'gone';
}

export function pidOf(tag: string): number {
  return Number.parseInt(tag.slice(8, 16), 16);
}

let own: string | undefined;
let ownPlace: string | undefined;

const TAG = new RegExp(`^[0-9a-f]{${TAG_DIGITS}}$`);

/** Where process ids are valid: this boot of the machine, and this container. */
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
