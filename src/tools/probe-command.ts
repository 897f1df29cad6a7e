import type { ProbeContext } from '../contract/tool.js';

/**
 * After a crash, for tools that run one command and do nothing else: it has come to its end where that is on record.
 * That nothing is on record says nothing: a process is known by its id only once it runs.
 */
export function probeCommand(_args: unknown, { notes }: ProbeContext): 'applied' | 'unknown' {
  const hasEnded = notes.some(({ kind, exitCode }) => kind === 'process' && typeof exitCode === 'number');
  return hasEnded ? 'applied' : 'unknown';
}
