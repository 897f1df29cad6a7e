import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Worker } from '../../contract/journal.js';
import { readProcess } from './proc-table.js';

let worker: Worker | undefined;

/** This process as the journal identifies it; the same value every time. */
export function workerOfThisProcess(): Worker {
  worker ??= Object.freeze(describeThisProcess());
  return worker;
}

/** This process as another worker, for another journal that it opens. */
export function newWorkerOfThisProcess(): Worker {
  return Object.freeze({ ...workerOfThisProcess(), id: randomUUID() });
}

/** Whether the worker is this process, under the id of any of its journals. */
export function isThisProcess({ pid, startedAt, startTicks, system }: Worker): boolean {
  const own = workerOfThisProcess();
  const isSameStart = startedAt === own.startedAt && startTicks === own.startTicks;
  return pid === own.pid && isSameStart && system === own.system;
}

function describeThisProcess(): Worker {
  const startTicks = readProcess(process.pid)?.startTicks;
  const system = systemOfThisProcess();
  return {
    id: randomUUID(),
    pid: process.pid,
    startedAt: Math.round(Date.now() - process.uptime() * 1000),
    ...(startTicks === undefined ? {} : { startTicks }),
    ...(system === undefined ? {} : { system }),
  };
}

/** This boot of the machine and the pid namespace: `<boot id> pid:[4026531836]`. */
function systemOfThisProcess(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}
