import { randomUUID } from 'node:crypto';
import type { Worker } from '../contract/journal.js';

let worker: Worker | undefined;

/** This process as a journal knows it; the same value every time. */
export function workerOfThisProcess(): Worker {
  worker ??= Object.freeze({
    id: randomUUID(),
    pid: process.pid,
    startedAt: Math.round(Date.now() - process.uptime() * 1000),
  });
  return worker;
}
