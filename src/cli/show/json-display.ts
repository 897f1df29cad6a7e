import type { TextOutput } from '../../platform/stdio.js';
import type { Display } from './display.js';
import { toSafeJson } from './to-safe-json.js';

/** For programs: one event a line, as the library gives them; a note is `{"type":"note","message":…}`. */
export function createJsonDisplay(out: TextOutput): Display {
  const line = (value: unknown): void => out.write(`${toSafeJson(value)}\n`);
  return {
    event: line,
    note: (message) => line({ type: 'note', message }),
    end() {},
  };
}
