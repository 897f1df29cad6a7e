/** The states of an escape sequence. */
export const SEQUENCE = {
  /** No sequence is open. */
  none: 0,
  /** ESC was read. */
  escape: 1,
  /** ESC and an intermediate, as in the choice of a character set. */
  intermediate: 2,
  /** CSI: parameters until a final character. */
  control: 3,
  /** OSC, DCS, SOS, PM, APC: anything until ST or BEL. */
  string: 4,
} as const;

export type SequenceState = (typeof SEQUENCE)[keyof typeof SEQUENCE];

/**
 * A sequence this long is not one: the following characters are text. Twice the longest piece that common
 * programs send at once (4096 characters of an image).
 */
export const LONGEST_SEQUENCE = 8192;

const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const BEL = 0x07;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;

/** The state after a character, and whether the character belonged to the sequence. */
export interface SequenceStep {
  readonly state: SequenceState;
  readonly taken: boolean;
}

// One object per state: a step happens for every character and must not allocate.
const TAKEN: readonly SequenceStep[] = Object.values(SEQUENCE).map((state) => ({ state, taken: true }));

/** The character is text again. */
export const SEQUENCE_OVER: SequenceStep = { state: SEQUENCE.none, taken: false };

/**
 * Processes one character of an open sequence. A line end ends every sequence, so an unfinished one hides no
 * more than its line (and never more than `LONGEST_SEQUENCE` characters).
 */
export function stepSequence(state: SequenceState, codePoint: number): SequenceStep {
  if (codePoint === ESC) return taken(SEQUENCE.escape);
  if (codePoint === CAN || codePoint === SUB) return taken(SEQUENCE.none);
  if (codePoint === LF || codePoint === CR) return SEQUENCE_OVER;
  if (codePoint >= 0x80 && codePoint <= 0x9f) return taken(openSequence(codePoint - 0x40));
  if (state === SEQUENCE.string) return taken(codePoint === BEL ? SEQUENCE.none : SEQUENCE.string);
  if (codePoint === TAB || codePoint > 0x7f) return SEQUENCE_OVER;
  // Terminals execute other controls inside a sequence and continue with it.
  if (codePoint < 0x20 || codePoint === 0x7f) return taken(state);
  if (state === SEQUENCE.control) return taken(codePoint < 0x40 ? SEQUENCE.control : SEQUENCE.none);
  if (codePoint < 0x30) return taken(SEQUENCE.intermediate);
  return taken(state === SEQUENCE.escape ? openSequence(codePoint) : SEQUENCE.none);
}

/** The state after ESC and this character. A C1 control equals ESC and the character 0x40 below it. */
export function openSequence(final: number): SequenceState {
  switch (String.fromCharCode(final)) {
    case '[':
      return SEQUENCE.control;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
    case 'k': // screen's window title
      return SEQUENCE.string;
    default:
      return SEQUENCE.none;
  }
}

function taken(state: SequenceState): SequenceStep {
  return TAKEN[state] ?? SEQUENCE_OVER;
}
