import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** One process as the kernel sees it. `pid` with `startTicks` names it for good: a number alone is used again. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks (10 ms as a rule) since the machine started. */
  readonly startTicks: number;
  /** False for a zombie: it holds a number and nothing else. */
  readonly alive: boolean;
}

export const ownProcessId = process.pid;

/** Undefined when there is no such process, or no `/proc`. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readSmall(`/proc/${pid}/stat`);
  // The second field is the program's name and may hold anything, blanks and brackets too.
  const end = text.lastIndexOf(')');
  if (end < 0) return undefined;
  const fields = text.slice(end + 2).split(' ');
  const state = fields[0];
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
    alive: state !== 'Z' && state !== 'X' && state !== 'x',
  };
}

/** All process ids, ascending; empty where there is no `/proc`. */
export function listProcessIds(): number[] {
  const ids: number[] = [];
  for (const name of attempt(() => readdirSync('/proc'), [])) {
    const code = name.charCodeAt(0);
    if (code >= 48 && code <= 57) ids.push(Number(name));
  }
  return ids;
}

/** The id given out last on this machine (or in this container), undefined where the kernel does not say. */
export function lastProcessId(): number | undefined {
  const last = Number(readSmall('/proc/loadavg').trimEnd().split(' ').at(-1));
  return Number.isSafeInteger(last) && last > 0 ? last : undefined;
}

/** The children that a process has now, whichever of its threads started them. */
export function listChildren(pid: number): number[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`), [])
    .flatMap((thread) => readSmall(`/proc/${pid}/task/${thread}/children`).split(' '))
    .map(Number)
    .filter((child) => child > 0);
}

/** The environment that the process was started with: parts that end with NUL. Empty when we may not look. */
export function readEnvironmentOf(pid: number): Buffer {
  return attempt(() => readFileSync(`/proc/${pid}/environ`), NOTHING);
}

const NOTHING = Buffer.alloc(0);

/** What a process has open, as the kernel names it: a path, or `socket:[4711]`. Empty when we may not look. */
export function listOpenFiles(pid: number, descriptors = listDescriptors(pid)): string[] {
  return descriptors.map((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), ''));
}

function listDescriptors(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`), []);
}

const page = Buffer.allocUnsafe(65_536);

/** The first 64 KiB of a file of `/proc`, empty when it cannot be read. Twice as fast as `readFileSync`. */
function readSmall(path: string): string {
  return attempt(() => {
    const fd = openSync(path, 'r');
    try {
      return page.toString('latin1', 0, readSync(fd, page, 0, page.length, 0));
    } finally {
      closeSync(fd);
    }
  }, '');
}

/** Processes vanish while they are looked at, and others' are closed to us: both mean that there is nothing to see. */
function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
