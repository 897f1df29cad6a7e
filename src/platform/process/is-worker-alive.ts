import { readFileSync } from 'node:fs';
import type { Worker } from '../../contract/journal.js';
import { errnoOf } from '../fs/fs-entry.js';
import { readProcess } from './proc-table.js';
import { workerOfThisProcess } from './worker-of-this-process.js';

/**
 * Whether the very process lives that a journal knows: one with its id that started when it did. Where no process can
 * tell (another container's process on the same machine), it counts as alive: what lives must be left alone.
 */
export function isWorkerAlive(worker: Worker): boolean {
  const own = workerOfThisProcess();
  if (worker.id === own.id) return true;
  if (worker.system !== undefined && own.system !== undefined && worker.system !== own.system) {
    // No process outlives a start of the machine; those in another space of ids cannot be seen.
    return bootOf(worker.system) === bootOf(own.system);
  }
  const entry = readProcess(worker.pid);
  if (entry === undefined) return exists(worker.pid) && worker.pid !== own.pid;
  if (!entry.alive) return false;
  if (worker.startTicks !== undefined) return entry.startTicks === worker.startTicks;
  const startedAt = startTime(entry.startTicks);
  return startedAt === undefined || Math.abs(startedAt - worker.startedAt) < SAME_START_MS;
}

/** Whether its process can be seen from here, if it lives: in another container's space of ids it cannot. */
export function isWorkerVisible({ id, system }: Worker): boolean {
  const own = workerOfThisProcess();
  return id === own.id || system === undefined || own.system === undefined || system === own.system;
}

/**
 * Whether a process of this machine lives; without a start it is known by its id alone, which may be another's by now.
 */
export function isProcessAlive(pid: number, startTicks?: number): boolean {
  const entry = readProcess(pid);
  if (entry === undefined) return exists(pid);
  return entry.alive && (startTicks === undefined || entry.startTicks === startTicks);
}

/** A process says when it started by a clock that may have been set since. */
const SAME_START_MS = 5_000;

function bootOf(system: string): string {
  return system.split(' ', 1)[0] ?? '';
}

/** Others' processes may be hidden from `/proc`, but not from a signal that is none. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

const TICKS_A_SECOND = 100;

/** Milliseconds since the epoch; undefined where the system does not say when it started. */
function startTime(startTicks: number): number | undefined {
  try {
    const booted = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1];
    if (booted === undefined) return undefined;
    return (Number(booted) + startTicks / TICKS_A_SECOND) * 1000;
  } catch {
    return undefined;
  }
}
