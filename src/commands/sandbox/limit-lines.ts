import type { CommandLimits } from '../../contract/processes.js';
import { userId } from '../../platform/runtime/environment.js';

/** Lines for `sh` that limit the processes it starts. Unsupported kinds are skipped; empty without limits. */
export function limitLines(
  { cpuSeconds, memoryMb, processes, fileSizeMb }: CommandLimits,
  isSandboxed: boolean,
): string {
  const limits = [
    // One second between the signal that can be caught and the one that cannot.
    ...(cpuSeconds === undefined ? [] : [`-S -t ${cpuSeconds}`, `-H -t ${cpuSeconds + 1}`]),
    // Not the address space: V8, Go and Java reserve far more of that than they use.
    ...(memoryMb === undefined ? [] : [`-d ${memoryMb * 1024}`]),
    // POSIX uses blocks of 512 bytes.
    ...(fileSizeMb === undefined ? [] : [`-f ${fileSizeMb * 2048}`]),
  ];
  const lines = limits.map((limit) => `ulimit ${limit} 2>/dev/null`);
  // Outside its own namespace it counts all processes of the user, and root is never limited.
  if (processes !== undefined && isSandboxed && userId() !== 0) {
    lines.push(`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`);
  }
  return lines.join('\n');
}
