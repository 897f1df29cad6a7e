import type { CommandLimits } from '../../contract/processes.js';
import { userId } from '../../platform/runtime/environment.js';

/**
 * Lines for `sh` that limit what it starts from now on. Kinds that this shell does not know are passed over; empty
 * where nothing is limited.
 */
export function limitLines(
  { cpuSeconds, memoryMb, processes, fileSizeMb }: CommandLimits,
  isSandboxed: boolean,
): string {
  const limits = [
    // A second between the signal that can be caught, and the one that cannot.
    ...(cpuSeconds === undefined ? [] : [`-S -t ${cpuSeconds}`, `-H -t ${cpuSeconds + 1}`]),
    // Not the address space: V8, Go and Java reserve far more of that than they ever use.
    ...(memoryMb === undefined ? [] : [`-d ${memoryMb * 1024}`]),
    // Blocks of 512 bytes, says POSIX.
    ...(fileSizeMb === undefined ? [] : [`-f ${fileSizeMb * 2048}`]),
  ];
  const lines = limits.map((limit) => `ulimit ${limit} 2>/dev/null`);
  // Outside of a namespace of its own it counts all that the user runs, and root is never counted.
  if (processes !== undefined && isSandboxed && userId() !== 0) {
    lines.push(`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`);
  }
  return lines.join('\n');
}
