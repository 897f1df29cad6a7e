export type InvisibleVerdict = 'keep' | 'drop' | 'before_pictograph' | 'before_keycap' | 'flag';

const ZERO_WIDTH_SPACE = 0x200b;
const NON_JOINER = 0x200c;
const JOINER = 0x200d;
const TEXT_STYLE = 0xfe0e;
const EMOJI_STYLE = 0xfe0f;
const BLACK_FLAG = 0x1f3f4;
const KEYCAP = 0x20e3;
const CANCEL_TAG = 0xe007f;

// Node takes 5 ms to build these sets. Each is built where it is needed; most output needs none.

/** Scripts whose letters change shape with a joiner or non-joiner. */
const isShaping = (character: string): boolean =>
  /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Mongolian}\p{Script=Phags_Pa}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Balinese}\p{Script=Javanese}]$/u.test(
    character,
  );

/** Scripts without spaces between words, where the zero width space marks a possible line break. */
const isUnspaced = (character: string): boolean =>
  /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Tai_Tham}\p{Script=New_Tai_Lue}]$/u.test(
    character,
  );

const isSkinTone = (character: string): boolean => /^\p{Emoji_Modifier}$/u.test(character);
const KEYCAP_BASE = /^[0-9#*]$/;
const isIdeograph = (character: string): boolean => /^\p{Script=Han}$/u.test(character);
const isMongolian = (character: string): boolean => /^\p{Script=Mongolian}$/u.test(character);
/**
 * Characters that accept one of the first three variation selectors: mathematics, ideographs and their
 * punctuation, Myanmar, Phags-pa.
 */
const isStyled = (character: string): boolean =>
  /^[\p{Sm}\p{Script=Han}\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\p{Script=Myanmar}\p{Script=Phags_Pa}]$/u.test(
    character,
  );

/** The flags in common fonts: England, Scotland, Wales, spelled in tags and ended by the cancel tag. */
const FLAG_TAGS: ReadonlySet<string> = new Set(['gbeng', 'gbsct', 'gbwls'].map(toTags));
const LONGEST_FLAG = 12;

/**
 * Whether an invisible character has a meaning after `previous`, the last shown character. If the verdict
 * depends on the successor, resolve it with the next shown character.
 */
export function invisibleVerdict(codePoint: number, previous: number): InvisibleVerdict {
  const before = String.fromCodePoint(previous);
  switch (codePoint) {
    case ZERO_WIDTH_SPACE:
      return keepIf(isUnspaced(before));
    case NON_JOINER:
      return keepIf(isShaping(before));
    case JOINER:
      if (isShaping(before)) return 'keep';
      return previous === EMOJI_STYLE || isPictograph(previous) || isSkinTone(before)
        ? 'before_pictograph'
        : 'drop';
    case EMOJI_STYLE:
      return KEYCAP_BASE.test(before)
        ? 'before_keycap'
        : keepIf(isPictograph(previous) || isSkinTone(before));
    case TEXT_STYLE:
      return keepIf(isPictograph(previous));
    default:
      return rareVerdict(codePoint, before);
  }
}

/** True for characters that a zero width joiner can join. */
export function isPictograph(codePoint: number): boolean {
  return /^\p{Extended_Pictographic}$/u.test(String.fromCodePoint(codePoint));
}

export function isKeycap(codePoint: number): boolean {
  return codePoint === KEYCAP;
}

/** Whether a run of tags is a flag, can become one, or is neither. */
export function flagState(tags: string): 'whole' | 'open' | 'none' {
  if (FLAG_TAGS.has(tags)) return 'whole';
  const ended = tags.endsWith(String.fromCodePoint(CANCEL_TAG));
  return ended || tags.length >= LONGEST_FLAG ? 'none' : 'open';
}

function rareVerdict(codePoint: number, before: string): InvisibleVerdict {
  if (codePoint >= 0xe0100) return keepIf(isIdeograph(before));
  if (codePoint >= 0xe0020) return before === String.fromCodePoint(BLACK_FLAG) ? 'flag' : 'drop';
  if (codePoint <= 0x180f) return keepIf(isMongolian(before));
  return keepIf(codePoint <= 0xfe02 && isStyled(before));
}

function keepIf(kept: boolean): InvisibleVerdict {
  return kept ? 'keep' : 'drop';
}

function toTags(letters: string): string {
  const tags = [...letters].map((letter) => 0xe0000 + letter.charCodeAt(0));
  return String.fromCodePoint(...tags, CANCEL_TAG);
}
