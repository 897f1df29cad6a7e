import { exactText, type Field } from '../field.js';
import { readOptions } from '../read-options.js';
import type { Judges } from '../shell.js';
import { type Stream, textStream, UNKNOWN } from '../stream.js';

/** `command -v rm`, `which rm`: prints where a program is; whatever stands before its name, that is what runs. */
export function whereabouts(words: readonly Field[]): Stream {
  const names = words.map(exactText);
  const known = names.every((name) => name !== undefined && /^[\w.+-]+$/.test(name));
  return known && names.length > 0 ? textStream(names.map((name) => `/usr/bin/${name}\n`).join('')) : UNKNOWN;
}

export const WHEREABOUTS_JUDGES: Judges = {
  which: ({ words }) => whereabouts(readOptions(words).operands),
  // Without `-p` or `-P` it speaks of the program in a sentence.
  type: ({ words }) => {
    const { operands, has } = readOptions(words);
    return has('p', 'P') ? whereabouts(operands) : UNKNOWN;
  },
};
