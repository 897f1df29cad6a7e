import type { CommandLimits, LimitHit } from '../contract/processes.js';
import type { ProcessEnd } from '../platform/process/spawn.js';

/**
 * The limit that a command reached, known from its end and its last output: the system reports it only to the
 * command's parent.
 * @param said the end of its output
 */
export function findLimitHit(limits: CommandLimits, end: ProcessEnd, said: string): LimitHit | undefined {
  if (end.exitCode === 0) return undefined;
  for (const { limit, signal, code, words } of SIGNS) {
    const max = limits[limit];
    if (max === undefined) continue;
    if (end.signal === signal || end.exitCode === code || words.test(said)) return { limit, max };
  }
  return undefined;
}

interface Sign {
  readonly limit: keyof CommandLimits;
  readonly signal?: string;
  /** The exit code that a shell reports for a child killed by the signal. */
  readonly code?: number;
  readonly words: RegExp;
}

const SIGNS: readonly Sign[] = [
  { limit: 'cpuSeconds', signal: 'SIGXCPU', code: 152, words: /CPU time limit exceeded/i },
  {
    limit: 'fileSizeMb',
    signal: 'SIGXFSZ',
    code: 153,
    words: /file size limit exceeded|file too large|EFBIG/i,
  },
  {
    limit: 'memoryMb',
    words:
      /cannot allocate memory|out of memory|memory exhausted|MemoryError|bad_alloc|allocation failed|ENOMEM|OutOfMemoryError/i,
  },
  { limit: 'processes', words: /fork: .*(?:resource temporarily unavailable|retry)|cannot fork|EAGAIN/i },
];
