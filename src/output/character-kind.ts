/** How the sanitizer treats a character outside an escape sequence. */

export const KIND = {
  /** Shown unchanged. */
  text: 0,
  /** Half of a pair that is shown if the other half follows. */
  pair: 1,
  /** Half of a pair that needs a closer look, or a lone half. */
  surrogate: 2,
  /** Never shown: controls, direction overrides, invisible characters. */
  hidden: 3,
  /** Invisible, but meaningful between certain neighbours: `invisible-verdict.ts` decides. */
  joining: 4,
  carriageReturn: 5,
  escape: 6,
  /** U+0080 to U+009F: each stands for ESC and the character 0x40 below it. */
  c1: 7,
  /** A line break or column jump, in text that must stay on one line. */
  layout: 8,
} as const;

export type CharacterKind = (typeof KIND)[keyof typeof KIND];

type Range = readonly [first: number, last: number];

const HIDDEN: readonly Range[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x7f],
  [0xad, 0xad], // soft hyphen
  [0x034f, 0x034f], // combining grapheme joiner
  [0x061c, 0x061c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5], // Khmer inherent vowels
  [0x180e, 0x180e], // Mongolian vowel separator
  [0x200e, 0x200f], // direction marks
  [0x202a, 0x202e], // direction embeddings and overrides
  [0x2060, 0x206f], // word joiner, invisible operators, direction isolates, deprecated shaping
  [0x3164, 0x3164], // Hangul filler
  [0xfeff, 0xfeff], // byte order mark
  [0xffa0, 0xffa0], // half-width Hangul filler
  [0xfff0, 0xfffb], // unassigned ignorables, interlinear annotation
];

const HIDDEN_ASTRAL: readonly Range[] = [
  [0x1bca0, 0x1bca3], // shorthand format controls
  [0x1d173, 0x1d17a], // musical format controls
  [0xe0000, 0xe0fff], // the rest of the ignorable plane
];

const JOINING: readonly Range[] = [
  [0x180b, 0x180d], // Mongolian variation selectors
  [0x180f, 0x180f],
  [0x200b, 0x200d], // zero width space, non-joiner, joiner
  [0xfe00, 0xfe0f], // variation selectors
];

const JOINING_ASTRAL: readonly Range[] = [
  [0xe0020, 0xe007f], // tags: flags of regions, and smuggled ASCII
  [0xe0100, 0xe01ef], // ideographic variation selectors
];

const LAYOUT: readonly Range[] = [
  [0x09, 0x0a],
  [0x2028, 0x2029],
];

/** One entry a UTF-16 unit. */
export const OUTPUT_KINDS: Uint8Array = outputKinds();

/** `OUTPUT_KINDS` for text that must stay on one line. */
export const INLINE_KINDS: Uint8Array = fill(Uint8Array.from(OUTPUT_KINDS), LAYOUT, KIND.layout);

/** The kind of a character beyond U+FFFF. */
export function astralKind(codePoint: number): CharacterKind {
  if (isIn(codePoint, JOINING_ASTRAL)) return KIND.joining;
  return isIn(codePoint, HIDDEN_ASTRAL) ? KIND.hidden : KIND.text;
}

function outputKinds(): Uint8Array {
  const kinds = new Uint8Array(0x10000);
  fill(kinds, HIDDEN, KIND.hidden);
  fill(kinds, JOINING, KIND.joining);
  fill(kinds, [[0x80, 0x9f]], KIND.c1);
  fill(kinds, [[0x0d, 0x0d]], KIND.carriageReturn);
  fill(kinds, [[0x1b, 0x1b]], KIND.escape);
  fill(kinds, [[0xd800, 0xdbff]], KIND.pair);
  fill(kinds, [[0xdc00, 0xdfff]], KIND.surrogate);
  for (const [first, last] of HIDDEN_ASTRAL) {
    fill(kinds, [[highSurrogate(first), highSurrogate(last)]], KIND.surrogate);
  }
  return kinds;
}

function fill(kinds: Uint8Array, ranges: readonly Range[], kind: CharacterKind): Uint8Array {
  for (const [first, last] of ranges) kinds.fill(kind, first, last + 1);
  return kinds;
}

function highSurrogate(codePoint: number): number {
  return 0xd800 + ((codePoint - 0x10000) >> 10);
}

function isIn(codePoint: number, ranges: readonly Range[]): boolean {
  return ranges.some(([first, last]) => codePoint >= first && codePoint <= last);
}

/**
 * The index of the first character, starting at `from`, that is not shown unchanged; otherwise the length.
 */
export function findSpecial(text: string, from: number, kinds: Uint8Array): number {
  const length = text.length;
  for (let at = from; at < length; at++) {
    const kind = kinds[text.charCodeAt(at)];
    if (kind === KIND.text) continue;
    if (kind !== KIND.pair || !isLowSurrogate(text.charCodeAt(at + 1))) return at;
    at++;
  }
  return length;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
