import { posix } from 'node:path';
import type { Effect } from '../../contract/effect.js';

/** An effect that the analysis found: its path starts where the command does, and here where the call does. */
export function fromCallStart(effect: Effect, cwd: string | undefined): Effect {
  if (cwd === undefined || !('path' in effect) || /^[/~]/.test(effect.path)) return { ...effect };
  return { ...effect, path: posix.join(cwd, effect.path) };
}
