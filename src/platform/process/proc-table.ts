import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/**
 * A process as the kernel shows it. `pid` together with `startTicks` identifies it for good; a pid alone is
 * used again.
 */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since the machine started, usually 10 ms each. */
  readonly startTicks: number;
  /** False for a zombie, which only holds a pid. */
  readonly alive: boolean;
}

export const ownProcessId = process.pid;

/** Undefined if there is no such process, or no `/proc`. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readSmall(`/proc/${pid}/stat`);
  // The second field is the program's name and may hold any character, including blanks and brackets.
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

/** All process ids, ascending; empty if there is no `/proc`. */
export function listProcessIds(): number[] {
  const ids: number[] = [];
  for (const name of attempt(() => readdirSync('/proc'), [])) {
    const code = name.charCodeAt(0);
    if (code >= 48 && code <= 57) ids.push(Number(name));
  }
  return ids;
}

/**
 * The process id that was assigned last on this machine (or in this container); undefined if the kernel does
 * not say.
 */
export function lastProcessId(): number | undefined {
  const last = Number(readSmall('/proc/loadavg').trimEnd().split(' ').at(-1));
  return Number.isSafeInteger(last) && last > 0 ? last : undefined;
}

/** The current children of a process, whichever of its threads started them. */
export function listChildren(pid: number): number[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`), [])
    .flatMap((thread) => readSmall(`/proc/${pid}/task/${thread}/children`).split(' '))
    .map(Number)
    .filter((child) => child > 0);
}

/**
 * The environment that the process was started with: parts that end with NUL. Empty if it may not be read.
 */
export function readEnvironmentOf(pid: number): Buffer {
  return attempt(() => readFileSync(`/proc/${pid}/environ`), NOTHING);
}

const NOTHING = Buffer.alloc(0);

/**
 * The open files of a process as the kernel names them: a path, or `socket:[4711]`. Empty if they may not be
 * read.
 */
export function listOpenFiles(pid: number, descriptors = listDescriptors(pid)): string[] {
  return descriptors.map((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), ''));
}

function listDescriptors(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`), []);
}

const page = Buffer.allocUnsafe(65_536);

/** The first 64 KiB of a file of `/proc`; empty if it cannot be read. Twice as fast as `readFileSync`. */
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

/**
 * Processes end while they are being read, and those of other users cannot be read: in both cases the answer is empty.
 */
function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
