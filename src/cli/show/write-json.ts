import type { TextOutput } from '../../platform/stdio.js';
import { toSafeJson } from './to-safe-json.js';

/** One JSON value: indented for a person at a terminal, on one line for everybody else. */
export function writeJson(out: TextOutput, value: unknown): void {
  out.write(`${toSafeJson(value, out.isTerminal ? 2 : 0)}\n`);
}
