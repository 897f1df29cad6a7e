import { entryStat } from '../fs/fs-entry.js';
import { machineArchitecture, systemName } from '../runtime/environment.js';
import { findTrustedProgram } from './find-program.js';
import { ownProcessId } from './proc-table.js';
import type { ProcessStart } from './spawn.js';

/**
 * A program with its first arguments. It executes the rest of the arguments and becomes the parent of every
 * orphan below.
 */
export type OrphanHolder = readonly [file: string, ...args: string[]];

/**
 * Finds such a program; undefined if the machine has none. Normally a process whose parent ends becomes a
 * child of init. If it has also left its session, its environment and its descriptors, it looks like an unrelated
 * process. Linux lets a process adopt all of its orphaned descendants (a subreaper), but a shell cannot ask for that.
 */
export function findOrphanHolder(): OrphanHolder | undefined {
  found ??= { holder: look() };
  return found.holder;
}

/** The same start, through the holder if the start asks for it. */
export function startHeld(start: ProcessStart): ProcessStart {
  const holder = start.holdsOrphans === true ? findOrphanHolder() : undefined;
  if (holder === undefined) return start;
  const [file, ...args] = holder;
  return { ...start, file, name: 'perl', args: [...args, start.file, ...start.args] };
}

let found: { readonly holder: OrphanHolder | undefined } | undefined;

function look(): OrphanHolder | undefined {
  const call = PRCTL.get(machineArchitecture());
  const perl = systemName().startsWith('linux') ? findTrustedProgram('perl') : undefined;
  const children = entryStat(`/proc/${ownProcessId}/task/${ownProcessId}/children`);
  if (call === undefined || perl === undefined || children === undefined) return undefined;
  return [perl, '-e', `syscall(${call}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0); exec {$ARGV[0]} @ARGV`];
}

const PR_SET_CHILD_SUBREAPER = 36;

/** The number of the system call `prctl`. */
const PRCTL: ReadonlyMap<string, number> = new Map([
  ['x64', 157],
  ['arm64', 167],
  ['riscv64', 167],
  ['loong64', 167],
  ['ppc64', 171],
  ['s390x', 172],
  ['arm', 172],
  ['ia32', 172],
]);
