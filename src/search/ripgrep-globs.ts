import { foldCase } from '../patterns/fold-case.js';
import { type Glob, parseGlob } from '../patterns/glob.js';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { type Piece, RUN } from '../patterns/wildcard.js';
import { endsBelow, type PathPattern } from './path-matcher.js';

/*
 * What ripgrep is told of patterns so that it opens and names less. Its globs are another language: it is given only
 * what reads the same in both, and every path that it names is held against the patterns themselves again.
 */

const MAX_GLOBS = 100;

/**
 * Arguments that let ripgrep leave out most files whose name cannot match, by a file type of our own: unlike `--glob`
 * it does not bring back what a .gitignore leaves out. Never leaves out what matches; none where that cannot be said.
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

/** Matches at least what the part does: all but plain characters become a star. */
function looseGlob({ pieces }: Segment): string | undefined {
  const text = pieces
    .map((piece) => (typeof piece === 'string' && /^[\w.+@=~-]$|^[^\0-\x7f]$/u.test(piece) ? piece : '*'))
    .join('')
    .replace(/\*+/g, '*');
  return text === '*' || text === '' ? undefined : text;
}

/**
 * Deny patterns in ripgrep's own words, so that it opens nothing they match: `!**\/.ssh`. Whatever it cannot say is
 * left out here.
 * @param place components of where is searched, from the system's root and from the sandbox's root
 */
export function excludeGlobs(
  patterns: readonly string[],
  place: { readonly fromTop: readonly string[]; readonly fromRoot: readonly string[] },
): string[] {
  const globs = patterns.flatMap((pattern) =>
    read(pattern).flatMap(({ isAbsolute, parts }) => {
      const [first] = parts;
      // A plain name holds at any depth; `x/**` means x as well, and from the root.
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

/** A glob that leaves out what the parts match, from where is searched; undefined where there is no such glob. */
export function excludeGlob(parts: readonly Segment[]): string | undefined {
  const texts = parts.map((part) => (part.isMany ? '**' : spell(part.pieces)));
  return texts.length > 0 && texts.every((text) => text !== undefined) ? `!/${texts.join('/')}` : undefined;
}

function spell(pieces: readonly Piece[]): string | undefined {
  const parts = pieces.map((piece) => {
    if (piece === RUN) return '*';
    // One character is not one byte.
    if (typeof piece !== 'string') return undefined;
    return /[*?{}[]/.test(piece) ? `[${piece}]` : piece;
  });
  const text = parts.join('');
  const isPlain =
    parts.every((part) => part !== undefined) && !/[\]\\,\p{Cc}]|\s$/u.test(text.replace(/\[.\]/gu, ''));
  return isPlain ? text : undefined;
}
