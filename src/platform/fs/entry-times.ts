import { chmodSync, utimesSync } from 'node:fs';

/** Sets the mode and time of a directory. @param path its characters are bytes */
export function setEntryTimes(path: string, mode: number, mtimeNs: bigint): void {
  const at = Buffer.from(path, 'latin1');
  const seconds = Number(mtimeNs) / 1e9;
  chmodSync(at, mode & 0o1777);
  utimesSync(at, seconds, seconds);
}
