import { type BigIntStats, statSync } from 'node:fs';

/** Longer than one tick of a file system's clock. */
const TICK_MS = 50;

/** A text that differs after each change or replacement of a file; undefined if there is none. */
export function stampOf(path: string): string | undefined {
  const found = statOf(path);
  return found === undefined
    ? undefined
    : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
}

/** Whether the last change is old enough that another one would change the stamp. */
export function isChangeSettled(path: string): boolean {
  const found = statOf(path);
  return found === undefined || Math.abs(Date.now() - Number(found.ctimeMs)) > TICK_MS;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
