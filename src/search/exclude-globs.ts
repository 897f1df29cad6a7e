import { endsBelow } from './path-matcher.js';
import { expandBraces } from './path-pattern.js';
import type { SegmentPattern, Token } from './segment-pattern.js';
import { parseSegment } from './segment-pattern.js';

/**
 * Deny patterns in ripgrep's own words, so that it opens nothing they match: `!**\/.ssh`. Whatever it cannot say is
 * left out here, because every result is judged by the patterns themselves again.
 * @param place components of where is searched, from the system's root and from the sandbox's root
 */
export function excludeGlobs(
  patterns: readonly string[],
  place: { readonly fromTop: readonly string[]; readonly fromRoot: readonly string[] },
): string[] {
  const globs = patterns.flatMap((pattern) =>
    alternativesOf(pattern).flatMap((text) => {
      const parts = text.replace(/^(?:\.\/)+/, '').split('/');
      const isAbsolute = parts[0] === '';
      const names = parts.filter((part) => part !== '');
      // A plain name holds at any depth; `x/**` means x as well, and from the root.
      const isName = names.length === 1 || (names.length === 2 && names[0] === '**');
      while (names.length > 1 && names.at(-1) === '**') names.pop();
      const isNameBelow = names.length === 2 && names[0] === '**';
      const segments = parseAll(names);
      if (segments === undefined) return [];
      if ((isName || isNameBelow) && !isAbsolute) return excludeGlob([GLOBSTAR, ...segments.slice(-1)]) ?? [];
      const directories = isAbsolute ? place.fromTop : place.fromRoot;
      return endsBelow(
        segments.map(ignoringCase),
        directories.map((name) => name.toLowerCase()),
      ).flatMap((index) => excludeGlob(segments.slice(index)) ?? []);
    }),
  );
  return [...new Set(globs)];
}

/** A glob that leaves out what the segments match, from where is searched; undefined where there is no such glob. */
export function excludeGlob(segments: readonly SegmentPattern[]): string | undefined {
  const parts = segments.map((segment) => (segment.isGlobstar ? '**' : spell(segment.tokens)));
  return parts.length > 0 && parts.every((part) => part !== undefined) ? `!/${parts.join('/')}` : undefined;
}

const GLOBSTAR = parseSegment('**');

function alternativesOf(pattern: string): readonly string[] {
  try {
    return expandBraces(pattern);
  } catch {
    return [];
  }
}

function parseAll(names: readonly string[]): readonly SegmentPattern[] | undefined {
  // An extended glob, which ripgrep has no words for.
  if (names.length === 0 || names.some((name) => /[?*+@!]\(/.test(name))) return undefined;
  try {
    return names.map(parseSegment);
  } catch {
    return undefined;
  }
}

function ignoringCase(segment: SegmentPattern): SegmentPattern {
  if (segment.literal === undefined) return segment;
  const literal = segment.literal.toLowerCase();
  return { ...segment, matches: (name) => name === literal };
}

function spell(tokens: readonly Token[]): string | undefined {
  const parts = tokens.map((token) => {
    if (token.kind === 'star') return '*';
    // One character is not one byte.
    if (token.kind !== 'char') return undefined;
    const char = String.fromCodePoint(token.code);
    return /[*?{}[]/.test(char) ? `[${char}]` : char;
  });
  const text = parts.join('');
  const isPlain =
    parts.every((part) => part !== undefined) && !/[\]\\,\p{Cc}]|\s$/u.test(text.replace(/\[.\]/gu, ''));
  return isPlain ? text : undefined;
}
