import { systemClock } from '../platform/clock.js';
import { listOpenFiles, type ProcessEntry, readEnvironmentOf } from '../platform/proc-table.js';

/** What shows to whom a process belongs: what it was started with, and what it has open. */
export interface ProcessMarks {
  /** `NAME=value` parts, each ended by a NUL; empty when we may not look, or the process is just being replaced. */
  readonly environment: Buffer;
  readonly files: readonly string[];
}

/**
 * The marks of a process. Many commands that end at once all look at the same processes, so what was seen is kept for a
 * moment: nobody gets a mark later that it had not when it started.
 */
export function processMarks({ pid, startTicks }: ProcessEntry): ProcessMarks {
  const now = systemClock.monotonic();
  const known = seen.get(pid);
  if (known !== undefined && known.startTicks === startTicks && now - known.at < KEPT_MS) return known.marks;
  const marks = { environment: readEnvironmentOf(pid), files: listOpenFiles(pid) };
  if (seen.size > MOST_KEPT) seen.clear();
  // One that shows nothing yet may be in the middle of its start.
  if (marks.environment.length > 0) seen.set(pid, { startTicks, at: now, marks });
  return marks;
}

const KEPT_MS = 200;
const MOST_KEPT = 2000;

const seen = new Map<
  number,
  { readonly startTicks: number; readonly at: number; readonly marks: ProcessMarks }
>();
