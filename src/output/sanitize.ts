import { INLINE_KINDS, OUTPUT_KINDS } from './character-kind.js';
import type { SanitizeMode } from './create-neutralizer.js';
import { createSanitizer } from './create-sanitizer.js';
import { findSpecial } from './find-special.js';

/** The whole of a text, made harmless as `createSanitizer` does it. Text that needs nothing comes back as it is. */
export function sanitize(text: string, mode: SanitizeMode = 'output'): string {
  const kinds = mode === 'inline' ? INLINE_KINDS : OUTPUT_KINDS;
  if (findSpecial(text, 0, kinds) === text.length) return text;
  const sanitizer = createSanitizer(mode);
  return sanitizer.push(text) + sanitizer.end();
}
