import { accessSync, constants, fstatSync } from 'node:fs';
import type { ProcessStart } from './spawn.js';

/** Characters. A pipe accepts that many bytes at once on every system; a longer script is sent another way. */
const LONGEST = 32_768;

/** The first descriptor of a place, and the last one that every shell can name. */
const FIRST_PLACE = 5;
const LAST_PLACE = 9;

/**
 * The script that turns a shell, started in the directory and environment of `start`, into its program with
 * the inherited files. Undefined if no script can do that: it is too long, must be refused, or a shell cannot
 * open an inherited file (it opens files only for reading, and ours may not be readable).
 */
export function shellScript(start: ProcessStart): string | undefined {
  const { file, args, mark = '', input, inherit, report, places = [], files = [] } = start;
  const others = [...places, ...files];
  if (input === 'pipe' || others.length > LAST_PLACE - FIRST_PLACE + 1) return undefined;
  if (!others.every(isReadable)) return undefined;
  const words = [file, ...args];
  if (words.some((word) => word.includes('\0'))) return undefined;
  const script =
    `TOOLEXEC_CALL=${quoted(mark)}; export TOOLEXEC_CALL; ` +
    `exec 0<${openFile(input)} 3<${openFile(inherit)} 4<>${openFile(report)} ` +
    `${others.map((fd, index) => `${FIRST_PLACE + index}<${openFile(fd)} `).join('')}` +
    `${words.map(quoted).join(' ')}\n`;
  return script.length > LONGEST ? undefined : script;
}

function openFile(fd: number | undefined): string {
  return fd === undefined ? '/dev/null' : `/proc/${process.pid}/fd/${fd}`;
}

/** If a shell opened a pipe, it would wait for the other end, or the other end for it. */
function isReadable(fd: number): boolean {
  const status = fstatSync(fd);
  if (!status.isDirectory() && !status.isFile()) return false;
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
