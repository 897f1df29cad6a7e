import { posix } from 'node:path';
import type { Effect } from '../../contract/effect.js';

/**
 * Converts an effect found by the analysis: its path is relative to where the command starts; the result is
 * relative to where the call starts.
 */
export function fromCallStart(effect: Effect, cwd: string | undefined): Effect {
  if (cwd === undefined || !('path' in effect) || /^[/~]/.test(effect.path)) return { ...effect };
  return { ...effect, path: posix.join(cwd, effect.path) };
}
