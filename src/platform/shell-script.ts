import type { ProcessStart } from './spawn.js';

/** What a pipe takes at once, whatever state it is in, is less; more is told by other means. */
const LONGEST = 32_768;

/**
 * What makes a shell that was started in the directory and environment of `start` become its program, with the files
 * that it inherits. Undefined where it cannot be said so: it is too long, must be refused, or a shell cannot open what
 * it shall inherit (of places it may only hold them).
 */
export function shellScript(start: ProcessStart): string | undefined {
  const { file, args, mark = '', inherit, report, places } = start;
  if (places !== undefined && places.length > 0) return undefined;
  const words = [file, ...args];
  if (words.some((word) => word.includes('\0'))) return undefined;
  const script =
    `TOOLEXEC_CALL=${quoted(mark)}; export TOOLEXEC_CALL; ` +
    `exec 0</dev/null 3<${openFile(inherit)} 4>${openFile(report)} ${words.map(quoted).join(' ')}\n`;
  return script.length > LONGEST ? undefined : script;
}

function openFile(fd: number | undefined): string {
  return fd === undefined ? '/dev/null' : `/proc/${process.pid}/fd/${fd}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
