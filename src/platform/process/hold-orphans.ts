import { entryStat } from '../fs/fs-entry.js';
import { machineArchitecture, systemName } from '../runtime/environment.js';
import { findTrustedProgram } from './find-program.js';
import { ownProcessId } from './proc-table.js';
import type { ProcessStart } from './spawn.js';

/** A program with its first arguments that becomes the rest of them, as the parent of every orphan below it. */
export type OrphanHolder = readonly [file: string, ...args: string[]];

/**
 * A process whose parent ends becomes a child of init, and one that has also left its session, its environment and its
 * descriptors cannot be told from a stranger's. Linux lets a process take the place of init for all that it starts, but
 * no shell can say so. Undefined where there is no such program.
 */
export function findOrphanHolder(): OrphanHolder | undefined {
  found ??= { holder: look() };
  return found.holder;
}

/** The same start, by way of the holder where it asks for one. */
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

/** The number of `prctl`. */
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
