/** What is not known: of a word, of a variable, or of what a command prints. It may be anything on purpose. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly numeric: boolean;
  /** A number that comes of an expression: it may be any. */
  readonly computed?: boolean;
  /** Not in quotes, so it may be several words, or none. */
  readonly splits?: boolean;
  /** What it came of. */
  readonly from?: Stream;
}

/** What a variable holds, as far as it can be told. */
export type Value =
  | Unknown
  | {
      readonly kind: 'text';
      readonly text: string;
      /** True of a usual environment (`$HOME`, `$PATH`), not certain. */
      readonly assumed: boolean;
      /** Names of files that match it, and so a pattern in quotes too. */
      readonly pattern?: true;
    };

/** Part of a word. */
export type Piece = Value | { readonly kind: 'glob'; readonly text: string };

/** What is known of the bytes that go through a pipe, or of what a command prints. */
export type Stream =
  | Unknown
  | { readonly kind: 'text'; readonly text: string; readonly literal: boolean }
  /** Came from the network. */
  | { readonly kind: 'fetched'; readonly from: string }
  /** Names of files below a path, one a line. */
  | { readonly kind: 'listing'; readonly root: string };

export const UNKNOWN: Unknown = { kind: 'unknown', numeric: false };
/** The same, where something comes in through a pipe. */
export const PIPED: Unknown = { kind: 'unknown', numeric: false };
export const NUMBER: Unknown = { kind: 'unknown', numeric: true };
export const COMPUTED: Unknown = { kind: 'unknown', numeric: true, computed: true };
export const NOTHING: Stream = { kind: 'text', text: '', literal: true };

export function textValue(text: string, assumed = false): Value {
  return { kind: 'text', text, assumed };
}

/** The text, when all of it is known. */
export function textOf(pieces: readonly Piece[]): string | undefined {
  let text = '';
  for (const piece of pieces) {
    if (piece.kind !== 'text') return undefined;
    text += piece.text;
  }
  return text;
}

/** One word after expansion, as far as it can be told without running anything. */
export class Field {
  constructor(
    readonly pieces: readonly Piece[],
    /** What is reported: the text without quotes, or the source where the text is not known. */
    readonly shown: string,
    /** Written out in the source, with or without quotes: no expansion of any kind. */
    readonly literal = false,
  ) {}

  static of(text: string, literal = true): Field {
    return new Field([textValue(text)], text, literal);
  }

  /** Several words as one, with a space between them. */
  static join(words: readonly Field[]): Field {
    const pieces = words.flatMap((word, at) => (at === 0 ? word.pieces : [textValue(' '), ...word.pieces]));
    const shown = words.map((word) => word.shown).join(' ');
    return new Field(
      pieces,
      shown,
      words.every(({ literal }) => literal),
    );
  }

  /** The text, when all of it is known. */
  get exact(): string | undefined {
    return textOf(this.pieces);
  }

  /** The text with what is unknown left out: what a variable that is not set would make of it. */
  get known(): string {
    return this.pieces.map((piece) => (piece.kind === 'unknown' ? '' : piece.text)).join('');
  }

  get isAssumed(): boolean {
    return this.pieces.some((piece) => piece.kind === 'text' && piece.assumed);
  }

  /** Part of it is not known, and may be anything. */
  get isComputed(): boolean {
    return this.pieces.some((piece) => piece.kind === 'unknown' && (!piece.numeric || piece.computed));
  }

  /** Where it begins, or beyond a space that comes of it, an option may stand. */
  get mayBeOptions(): boolean {
    // What a usual environment holds begins with a slash; anything else that is taken for granted may be an option.
    if (this.isAssumed && !this.known.startsWith('/')) return true;
    return this.pieces.some(
      (piece, at) => piece.kind === 'unknown' && !piece.numeric && (at === 0 || piece.splits === true),
    );
  }

  get hasPattern(): boolean {
    return this.pieces.some(({ kind }) => kind === 'glob');
  }

  get startsUnknown(): boolean {
    return this.pieces[0]?.kind === 'unknown';
  }

  /** What a computed word came of: the output of a substitution. */
  get source(): Stream | undefined {
    for (const piece of this.pieces)
      if (piece.kind === 'unknown' && piece.from !== undefined) return piece.from;
    return undefined;
  }

  /** The text where it is known, else that it is not. */
  get value(): Value {
    const unknown = this.pieces.find((piece) => piece.kind === 'unknown');
    if (unknown === undefined) return textValue(this.known, this.isAssumed);
    const { source: from } = this;
    const numeric = this.pieces.length === 1 && unknown.numeric;
    return { kind: 'unknown', numeric, computed: this.isComputed, ...(from && { from }) };
  }

  /** The word without its first characters, which must be known text (`of=` of `of=/dev/sda`). */
  dropPrefix(length: number): Field {
    let left = length;
    const pieces = this.pieces.flatMap((piece): Piece[] => {
      if (piece.kind !== 'text') return [piece];
      const text = piece.text.slice(left);
      left -= piece.text.length - text.length;
      return text === '' ? [] : [{ ...piece, text }];
    });
    return new Field(pieces, this.shown.slice(length), this.literal);
  }
}

const MAX_KNOWN = 65_536;

export function textStream(text: string, literal = false): Stream {
  return text.length > MAX_KNOWN ? UNKNOWN : { kind: 'text', text, literal };
}

/** One after the other. What is dangerous to run stays dangerous beside anything else. */
export function joinStreams(first: Stream, second: Stream): Stream {
  if (first.kind === 'text' && first.text === '') return second;
  if (second.kind === 'text' && second.text === '') return first;
  if (first.kind === 'text' && second.kind === 'text') return textStream(first.text + second.text);
  const both = [first, second];
  return (
    both.find(({ kind }) => kind === 'fetched') ?? both.find(({ kind }) => kind === 'listing') ?? UNKNOWN
  );
}

/** What comes of words: their text where all of it is known, else what they came of. */
export function streamOf(fields: readonly Field[], end = ''): Stream {
  const texts = fields.map(({ exact }) => exact);
  if (texts.every((text) => text !== undefined))
    return textStream(
      texts.join(' ') + end,
      fields.every(({ literal }) => literal),
    );
  return fields.map((field) => field.source).find((one) => one !== undefined) ?? UNKNOWN;
}
