import type { PathPattern } from './path-pattern.js';
import type { SegmentPattern } from './segment-pattern.js';

const MAX_GLOBS = 100;

/**
 * Arguments that let ripgrep leave out most files whose name cannot match, by a file type of our own: unlike `--glob`
 * it does not bring back what a .gitignore leaves out. Never leaves out what matches; none where that cannot be said.
 */
export function narrowNames({ alternatives }: PathPattern): readonly string[] {
  const globs = new Set<string>();
  for (const segments of alternatives) {
    const last = segments.at(-1);
    const glob = last === undefined ? undefined : looseGlob(last);
    if (glob === undefined || globs.size >= MAX_GLOBS) return [];
    globs.add(glob);
  }
  return ['--type', 'toolexec', ...[...globs].flatMap((glob) => ['--type-add', `toolexec:${glob}`])];
}

/** Matches at least what the segment does: all but plain characters become a star. */
function looseGlob({ tokens }: SegmentPattern): string | undefined {
  const text = tokens
    .map((token) => {
      const char = token.kind === 'char' ? String.fromCodePoint(token.code) : '*';
      return /^[\w.+@=~-]$|^[^\0-\x7f]$/u.test(char) ? char : '*';
    })
    .join('')
    .replace(/\*+/g, '*');
  return text === '*' || text === '' ? undefined : text;
}
