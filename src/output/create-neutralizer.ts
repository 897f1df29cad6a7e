import { astralKind, findSpecial, INLINE_KINDS, KIND, OUTPUT_KINDS } from './character-kind.js';
import { flagState, invisibleVerdict, isKeycap, isPictograph } from './invisible-verdict.js';
import {
  LONGEST_SEQUENCE,
  openSequence,
  SEQUENCE,
  SEQUENCE_OVER,
  type SequenceState,
  stepSequence,
} from './step-sequence.js';

/**
 * `output` keeps lines and tabs. `inline` puts everything on one line, for a prompt or a name; breaks become
 * symbols.
 */
export type SanitizeMode = 'output' | 'inline';

export interface Neutralizer {
  push(text: string): string;
  end(): string;
  /** True if plain text would pass unchanged. */
  isIdle(): boolean;
  /** Passes text that the caller knows to be plain, while idle. */
  pass(text: string): string;
}

/** A character that is held back until the next shown character is known. */
type Held = 'nothing' | 'carriage_return' | 'joiner' | 'keycap_style' | 'flag_tags';

const TAB = 0x09;
const LF = 0x0a;
const TAB_SYMBOL = '\u2409';
const LF_SYMBOL = '\u240a';
const REPLACEMENT = '\ufffd';
const JOINER = '\u200d';
const EMOJI_STYLE = '\ufe0f';

/**
 * The sanitizer's state machine. Chunks never end inside a surrogate pair. Escape sequences are dropped as
 * they arrive, without a buffer. A character that depends on its successor is held until the next shown
 * character; removed characters in between do not count.
 */
export function createNeutralizer(mode: SanitizeMode): Neutralizer {
  return mode === 'inline'
    ? new Automaton(INLINE_KINDS, LF_SYMBOL, LF_SYMBOL)
    : new Automaton(OUTPUT_KINDS, '\n', '\r\n');
}

class Automaton implements Neutralizer {
  readonly #kinds: Uint8Array;
  readonly #newline: string;
  readonly #pairedNewline: string;
  #sequence: SequenceState = SEQUENCE.none;
  #sequenceLength = 0;
  #held: Held = 'nothing';
  #tags = '';
  /** The last shown character; a line feed represents the start. */
  #previous = LF;
  #out = '';

  constructor(kinds: Uint8Array, newline: string, pairedNewline: string) {
    this.#kinds = kinds;
    this.#newline = newline;
    this.#pairedNewline = pairedNewline;
  }

  isIdle(): boolean {
    return this.#sequence === SEQUENCE.none && this.#held === 'nothing';
  }

  pass(text: string): string {
    this.#previous = lastCodePoint(text, text.length) ?? this.#previous;
    return text;
  }

  push(text: string): string {
    if (this.isIdle() && findSpecial(text, 0, this.#kinds) === text.length) return this.pass(text);
    this.#out = '';
    for (let at = 0; at < text.length; ) {
      at = this.isIdle() ? this.#showPlain(text, at) : at;
      const codePoint = text.codePointAt(at);
      if (codePoint === undefined) break;
      if (this.#sequence === SEQUENCE.none) this.#handle(codePoint, this.#kindOf(codePoint));
      else if (!this.#belongsToSequence(codePoint)) continue;
      at += codePoint > 0xffff ? 2 : 1;
    }
    return this.#out;
  }

  end(): string {
    const rest = this.#held === 'carriage_return' ? this.#newline : '';
    this.#sequence = SEQUENCE.none;
    this.#sequenceLength = 0;
    this.#held = 'nothing';
    this.#previous = LF;
    this.#out = '';
    return rest;
  }

  #showPlain(text: string, from: number): number {
    const to = findSpecial(text, from, this.#kinds);
    if (to > from) {
      this.#out += text.slice(from, to);
      this.#previous = lastCodePoint(text, to) ?? this.#previous;
    }
    return to;
  }

  #kindOf(codePoint: number): number | undefined {
    return codePoint > 0xffff ? astralKind(codePoint) : this.#kinds[codePoint];
  }

  #handle(codePoint: number, kind: number | undefined): void {
    switch (kind) {
      case KIND.hidden:
        return;
      case KIND.escape:
        this.#open(SEQUENCE.escape);
        return;
      case KIND.c1:
        this.#open(openSequence(codePoint - 0x40));
        return;
      case KIND.joining:
        this.#weigh(codePoint);
        return;
      case KIND.carriageReturn:
        this.#resolveHeld(codePoint);
        this.#held = 'carriage_return';
        this.#previous = LF;
        return;
      default:
        if (!this.#resolveHeld(codePoint)) this.#show(visibleForm(codePoint, kind), codePoint);
    }
  }

  #open(sequence: SequenceState): void {
    this.#sequence = sequence;
    this.#sequenceLength = 0;
  }

  #belongsToSequence(codePoint: number): boolean {
    this.#sequenceLength++;
    const { state, taken } =
      this.#sequenceLength > LONGEST_SEQUENCE ? SEQUENCE_OVER : stepSequence(this.#sequence, codePoint);
    this.#sequence = state;
    return taken;
  }

  /**
   * Decides about the held character when a shown character follows. True if both form one character and are
   * already shown.
   */
  #resolveHeld(codePoint: number): boolean {
    const held = this.#held;
    this.#held = 'nothing';
    if (held === 'joiner' && isPictograph(codePoint)) this.#out += JOINER;
    if (held === 'keycap_style' && isKeycap(codePoint)) this.#out += EMOJI_STYLE;
    if (held !== 'carriage_return') return false;
    const paired = codePoint === LF;
    this.#out += paired ? this.#pairedNewline : this.#newline;
    return paired;
  }

  /** An invisible character: kept, dropped, or held until its successor is known. */
  #weigh(codePoint: number): void {
    // At the start of a line invisible characters have no meaning, and a held CR still waits for its LF.
    if (this.#held === 'carriage_return') return;
    const tags = this.#held === 'flag_tags' ? this.#tags : '';
    this.#held = 'nothing';
    const verdict = invisibleVerdict(codePoint, this.#previous);
    if (verdict === 'keep') this.#show(String.fromCodePoint(codePoint), codePoint);
    else if (verdict === 'before_pictograph') this.#held = 'joiner';
    else if (verdict === 'before_keycap') this.#held = 'keycap_style';
    else if (verdict === 'flag') this.#collectTag(tags + String.fromCodePoint(codePoint), codePoint);
  }

  #collectTag(tags: string, codePoint: number): void {
    const state = flagState(tags);
    if (state === 'whole') this.#show(tags, codePoint);
    if (state !== 'open') return;
    this.#tags = tags;
    this.#held = 'flag_tags';
  }

  #show(text: string, codePoint: number): void {
    this.#out += text;
    this.#previous = codePoint;
  }
}

function visibleForm(codePoint: number, kind: number | undefined): string {
  if (kind === KIND.layout) return codePoint === TAB ? TAB_SYMBOL : LF_SYMBOL;
  const isLoneSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  return isLoneSurrogate ? REPLACEMENT : String.fromCodePoint(codePoint);
}

function lastCodePoint(text: string, end: number): number | undefined {
  const unit = text.charCodeAt(end - 1);
  const isPaired = unit >= 0xdc00 && unit <= 0xdfff && end > 1;
  return end > 0 ? text.codePointAt(isPaired ? end - 2 : end - 1) : undefined;
}
