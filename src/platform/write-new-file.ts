import { writeFileSync } from 'node:fs';

/** @throws the system's error, `EEXIST` where anything is there already. */
export function writeNewFile(path: string, text: string): void {
  writeFileSync(path, text, { flag: 'wx' });
}
