import { readFileSync } from 'node:fs';
import type { Worker } from '../../contract/journal.js';
import { errnoOf } from '../fs/fs-entry.js';
import { readProcess } from './proc-table.js';
import { isThisProcess, workerOfThisProcess } from './worker-of-this-process.js';

/**
 * Whether the process that the journal knows is alive: a process with the same id that started at the same
 * time. If this cannot be found out (a process of another container on this machine), the answer is true,
 * because a live process must be left alone.
 */
export function isWorkerAlive(worker: Worker): boolean {
  if (isThisProcess(worker)) return true;
  const own = workerOfThisProcess();
  if (worker.system !== undefined && own.system !== undefined && worker.system !== own.system) {
    // No process outlives a restart of the machine. Processes in another pid namespace cannot be seen.
    return bootOf(worker.system) === bootOf(own.system);
  }
  const entry = readProcess(worker.pid);
  if (entry === undefined) return exists(worker.pid) && worker.pid !== own.pid;
  if (!entry.alive) return false;
  if (worker.startTicks !== undefined) return entry.startTicks === worker.startTicks;
  const startedAt = startTime(entry.startTicks);
  return startedAt === undefined || Math.abs(startedAt - worker.startedAt) < SAME_START_MS;
}

/** The same for a journal that several machines share: a process that cannot be seen from here is left alone. */
export function mayBeAlive(worker: Worker): boolean {
  const isHere = worker.system !== undefined && worker.system === workerOfThisProcess().system;
  return !isHere || isWorkerAlive(worker);
}

/**
 * Whether the process would be visible from here if it were alive. In another container's pid namespace it would not.
 */
export function isWorkerVisible({ system }: Worker): boolean {
  const own = workerOfThisProcess();
  return system === undefined || own.system === undefined || system === own.system;
}

/**
 * Whether the worker is the process that started this one, directly or through others. False if `/proc` does not show
 * it.
 */
export function isWorkerAncestor({ pid, startTicks, system }: Worker): boolean {
  const own = workerOfThisProcess();
  if (startTicks === undefined || system !== own.system) return false;
  for (let at = process.ppid; at > 1; ) {
    const entry = readProcess(at);
    if (at === pid) return entry?.startTicks === startTicks;
    at = entry?.parent ?? 0;
  }
  return false;
}

/**
 * Whether a process of this machine is alive. Without a start time it is identified only by its id, which
 * another process may have by now.
 */
export function isProcessAlive(pid: number, startTicks?: number): boolean {
  const entry = readProcess(pid);
  if (entry === undefined) return exists(pid);
  return entry.alive && (startTicks === undefined || entry.startTicks === startTicks);
}

/** The start time of a process comes from a clock that may have been changed since. */
const SAME_START_MS = 5_000;

function bootOf(system: string): string {
  return system.split(' ', 1)[0] ?? '';
}

/** Processes of other users may be hidden in `/proc`, but signal 0 finds them. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

const TICKS_A_SECOND = 100;

/** Milliseconds since the epoch; undefined if the system does not say when the process started. */
function startTime(startTicks: number): number | undefined {
  try {
    const booted = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1];
    if (booted === undefined) return undefined;
    return (Number(booted) + startTicks / TICKS_A_SECOND) * 1000;
  } catch {
    return undefined;
  }
}
