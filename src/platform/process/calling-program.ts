import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Worker } from '../../contract/journal.js';
import { readProcess } from './proc-table.js';
import { workerOfThisProcess } from './worker-of-this-process.js';

/** The program that started this one, without shells between them. */
export interface CallingProgram {
  /** In the form in which a journal identifies a process. */
  readonly worker: Worker;
  /**
   * Distinguishes versions of the program: the version in its path, or otherwise the identity of its file.
   */
  readonly version: string;
}

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ash', 'ksh', 'fish', 'env', 'timeout']);
const MOST_STEPS = 8;

export function callingProgram(): CallingProgram {
  const own = workerOfThisProcess();
  let pid = process.ppid;
  for (let step = 0; step < MOST_STEPS && pid > 1 && isShell(pid); step++)
    pid = readProcess(pid)?.parent ?? 0;
  const entry = readProcess(pid);
  const { system } = own;
  return {
    worker: {
      id: `calls-toolexec-${pid}-${entry?.startTicks ?? 0}`,
      pid,
      startedAt: own.startedAt,
      ...(entry === undefined ? {} : { startTicks: entry.startTicks }),
      ...(system === undefined ? {} : { system }),
    },
    version: versionOf(pid),
  };
}

function isShell(pid: number): boolean {
  return SHELLS.has(basename(programOf(pid)));
}

function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
  } catch {
    return '';
  }
}

/** For the program of an interpreter, the script counts. */
function versionOf(pid: number): string {
  const program = programOf(pid);
  const file = /^(?:node|bun|deno|python[\d.]*)$/.test(basename(program))
    ? (scriptOf(pid) ?? program)
    : program;
  const [, named] = /(?:^|[/@_-])v?(\d+\.\d+\.\d+(?:-[\w.]+)?)(?=\/|$)/.exec(file) ?? [];
  const inPackage = named ?? packageVersion(file);
  if (inPackage !== undefined) return inPackage;
  try {
    const { size, mtimeMs } = statSync(file);
    return `unknown (${size} bytes, ${Math.round(mtimeMs)})`;
  } catch {
    return 'unknown';
  }
}

function scriptOf(pid: number): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1);
    const script = words.find((word) => word !== '' && !word.startsWith('-'));
    return script === undefined
      ? undefined
      : realpathSync(`/proc/${pid}/cwd/${script}`.replace(/^.*\/cwd\/\//, '/'));
  } catch {
    return undefined;
  }
}

/** The version of the package that contains a file. */
function packageVersion(file: string): string | undefined {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  if (folder === undefined) return undefined;
  try {
    const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
