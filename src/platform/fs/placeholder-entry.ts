import { chmodSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';

interface PlaceholderEntry {
  readonly size: number;
  readonly modifiedSeconds: number;
  readonly isExecutable: boolean;
}

/** Programs that read lines find empty ones; a large one is nothing but its size. */
const LINES_BYTES = 16 * 1024;

/** Makes a file that holds nothing, and has size, time and mode of another one. @param path its characters are bytes */
export function writePlaceholder(
  path: string,
  { size, modifiedSeconds, isExecutable }: PlaceholderEntry,
): void {
  const at = Buffer.from(path, 'latin1');
  writeFileSync(at, size > LINES_BYTES ? '' : '\n'.repeat(size), { flag: 'wx' });
  if (size > LINES_BYTES) truncateSync(at, size);
  chmodSync(at, isExecutable ? 0o755 : 0o644);
  utimesSync(at, modifiedSeconds, modifiedSeconds);
}

/** Gives a directory mode and time of another one. @param path its characters are bytes */
export function setEntryTimes(path: string, mode: number, mtimeNs: bigint): void {
  const at = Buffer.from(path, 'latin1');
  const seconds = Number(mtimeNs) / 1e9;
  chmodSync(at, mode & 0o1777);
  utimesSync(at, seconds, seconds);
}
