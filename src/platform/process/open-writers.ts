import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { listProcessIds } from './proc-table.js';

/** A file by its numbers, and the last part of its path. */
export interface SoughtFile {
  readonly dev: string;
  readonly ino: string;
  /** Its characters are bytes. */
  readonly name: string;
}

interface OpenWriter {
  readonly pid: number;
  /** The name of the program; empty if it has just ended. */
  readonly program: string;
}

/**
 * Which of these files a process has open for writing, by `keyOfFile`; the first such process of each file. Processes
 * of other users cannot be examined, so they are not found.
 */
export function findOpenWriters(files: readonly SoughtFile[]): ReadonlyMap<string, OpenWriter> {
  const sought = new Set(files.map(keyOfFile));
  const names = new Set(files.map(({ name }) => name));
  const found = new Map<string, OpenWriter>();
  if (sought.size === 0) return found;
  for (const pid of listProcessIds()) {
    for (const fd of attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const key = attempt(() => soughtAt(`/proc/${pid}/fd/${fd}`, names));
      if (key === undefined || !sought.has(key) || found.has(key)) continue;
      if (attempt(() => isWriting(pid, fd)) === true)
        found.set(key, {
          pid,
          program: attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd()) ?? '',
        });
    }
  }
  return found;
}

export function keyOfFile({ dev, ino }: Pick<SoughtFile, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/**
 * The key of an open file that has one of the names; undefined for any other. The name is compared first, because it
 * is read without the file system: a network file system may not answer. A container has other paths to the same file,
 * but the same name.
 */
function soughtAt(descriptor: string, names: ReadonlySet<string>): string | undefined {
  const path = readlinkSync(descriptor, 'latin1');
  if (!path.startsWith('/') || !names.has(path.slice(path.lastIndexOf('/') + 1))) return undefined;
  const { dev, ino } = statSync(descriptor, { bigint: true });
  return keyOfFile({ dev: `${dev}`, ino: `${ino}` });
}

/** The flags are octal; the last two bits are the way of access: 1 and 2 can write. */
function isWriting(pid: number, fd: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 0o3) > 0;
}

/** Processes end while they are examined. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
