import { foldCase } from '../patterns/fold-case.js';
import { type Glob, parseGlob } from '../patterns/glob.js';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { type Piece, RUN } from '../patterns/wildcard.js';
import { endsBelow, type PathPattern } from './path-matcher.js';

/*
 * Patterns for ripgrep, so that it opens and names fewer files. Its glob language differs from ours: it only
 * gets patterns that mean the same in both, and each path is matched against our patterns again.
 */

const MAX_GLOBS = 100;

/**
 * Arguments that let ripgrep skip most files whose name cannot match, with a file type of our own: unlike
 * `--glob` it does not bring back ignored files. Never skips a match; empty if that cannot be guaranteed.
 */
export function narrowNames({ alternatives }: PathPattern): readonly string[] {
  const globs = new Set<string>();
  for (const parts of alternatives) {
    const last = parts.at(-1);
    const glob = last === undefined ? undefined : looseGlob(last);
    if (glob === undefined || globs.size >= MAX_GLOBS) return [];
    globs.add(glob);
  }
  return ['--type', 'toolexec', ...[...globs].flatMap((glob) => ['--type-add', `toolexec:${glob}`])];
}

/** Matches at least as much as the part: everything except plain characters becomes a star. */
function looseGlob({ pieces }: Segment): string | undefined {
  const text = pieces
    .map((piece) => (typeof piece === 'string' && /^[\w.+@=~-]$|^[^\0-\x7f]$/u.test(piece) ? piece : '*'))
    .join('')
    .replace(/\*+/g, '*');
  return text === '*' || text === '' ? undefined : text;
}

/**
 * Deny patterns in ripgrep's language, so that it opens no denied file: `!**\/.ssh`. Patterns that it cannot
 * express are left out.
 * @param place components of the searched place, from the system's root and from the sandbox's root
 */
export function excludeGlobs(
  patterns: readonly string[],
  place: { readonly fromTop: readonly string[]; readonly fromRoot: readonly string[] },
): string[] {
  const globs = patterns.flatMap((pattern) =>
    read(pattern).flatMap(({ isAbsolute, parts }) => {
      const [first] = parts;
      // A plain name matches at any depth; `x/**` also matches x, and starts at the root.
      const own = parts.length > 1 && parts.at(-1)?.isMany === true ? parts.slice(0, -1) : parts;
      const isName = parts.length === 1 || (own.length === 2 && first?.isMany === true);
      if (isName && !isAbsolute) return excludeGlob([MANY, ...own.slice(-1)]) ?? [];
      const directories = isAbsolute ? place.fromTop : place.fromRoot;
      return endsBelow(own, directories.map(foldCase)).flatMap(
        (index) => excludeGlob(own.slice(index)) ?? [],
      );
    }),
  );
  return [...new Set(globs)];
}

function read(pattern: string): readonly Glob[] {
  try {
    return parseGlob(pattern, { fold: foldCase });
  } catch {
    return [];
  }
}

const MANY = parseSegment('**');

/**
 * A glob that excludes the matches of the parts, relative to the searched place; undefined if there is none.
 */
export function excludeGlob(parts: readonly Segment[]): string | undefined {
  const texts = parts.map((part) => (part.isMany ? '**' : spell(part.pieces)));
  return texts.length > 0 && texts.every((text) => text !== undefined) ? `!/${texts.join('/')}` : undefined;
}

function spell(pieces: readonly Piece[]): string | undefined {
  const parts = pieces.map((piece) => {
    if (piece === RUN) return '*';
    // One character may be several bytes.
    if (typeof piece !== 'string') return undefined;
    return /[*?{}[]/.test(piece) ? `[${piece}]` : piece;
  });
  const text = parts.join('');
  const isPlain =
    parts.every((part) => part !== undefined) && !/[\]\\,\p{Cc}]|\s$/u.test(text.replace(/\[.\]/gu, ''));
  return isPlain ? text : undefined;
}
