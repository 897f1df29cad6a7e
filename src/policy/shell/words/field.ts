/** An unknown word, variable or output. An attacker may have chosen its value. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly numeric: boolean;
  /** A number that results from an expression: it may be any. */
  readonly computed?: boolean;
  /** Not in quotes, so it may be several words, or none. */
  readonly splits?: boolean;
  /** The source of the text. */
  readonly from?: Stream;
}

/** The value of a variable, as far as it is known. */
export type Value =
  | Unknown
  | {
      readonly kind: 'text';
      readonly text: string;
      /** True in a usual environment (`$HOME`, `$PATH`), but not certain. */
      readonly assumed: boolean;
      /** The names of files that match it; so a quoted pattern too. */
      readonly pattern?: true;
    };

/** Part of a word. */
export type Piece = Value | { readonly kind: 'glob'; readonly text: string };

/** The known facts about the bytes in a pipe, or about a command's output. */
export type Stream =
  | Unknown
  | { readonly kind: 'text'; readonly text: string; readonly literal: boolean }
  /** Came from the network. */
  | { readonly kind: 'fetched'; readonly from: string }
  /** Names of files below a path, one per line. */
  | { readonly kind: 'listing'; readonly root: string };

export const UNKNOWN: Unknown = { kind: 'unknown', numeric: false };
/** Unknown text that arrives through a pipe. */
export const PIPED: Unknown = { kind: 'unknown', numeric: false };
export const NUMBER: Unknown = { kind: 'unknown', numeric: true };
export const COMPUTED: Unknown = { kind: 'unknown', numeric: true, computed: true };
export const NOTHING: Stream = { kind: 'text', text: '', literal: true };

export function textValue(text: string, assumed = false): Value {
  return { kind: 'text', text, assumed };
}

/** The text, if all of it is known. */
export function textOf(pieces: readonly Piece[]): string | undefined {
  let text = '';
  for (const piece of pieces) {
    if (piece.kind !== 'text') return undefined;
    text += piece.text;
  }
  return text;
}

/** One word after expansion, as far as it is known without running anything. */
export class Field {
  constructor(
    readonly pieces: readonly Piece[],
    /** The text to report: without quotes, or the source if the text is not known. */
    readonly shown: string,
    /** Literal in the source, with or without quotes: no expansion of any kind. */
    readonly literal = false,
  ) {}

  static of(text: string, literal = true): Field {
    return new Field([textValue(text)], text, literal);
  }

  /** Several words as one, separated by spaces. */
  static join(words: readonly Field[]): Field {
    const pieces = words.flatMap((word, at) => (at === 0 ? word.pieces : [textValue(' '), ...word.pieces]));
    const shown = words.map((word) => word.shown).join(' ');
    return new Field(
      pieces,
      shown,
      words.every(({ literal }) => literal),
    );
  }

  /** The text, if all of it is known. */
  get exact(): string | undefined {
    return textOf(this.pieces);
  }

  /** The text without its unknown parts: the word if the variables were not set. */
  get known(): string {
    return this.pieces.map((piece) => (piece.kind === 'unknown' ? '' : piece.text)).join('');
  }

  get isAssumed(): boolean {
    return this.pieces.some((piece) => piece.kind === 'text' && piece.assumed);
  }

  /** Part of it is unknown and may be anything. */
  get isComputed(): boolean {
    return this.pieces.some((piece) => piece.kind === 'unknown' && (!piece.numeric || piece.computed));
  }

  /** An option may be at its beginning, or after a space from an expansion. */
  get mayBeOptions(): boolean {
    // Assumed values from the environment begin with a slash; any other may be an option.
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

  /** The source of a computed word: the output of a substitution. */
  get source(): Stream | undefined {
    for (const piece of this.pieces)
      if (piece.kind === 'unknown' && piece.from !== undefined) return piece.from;
    return undefined;
  }

  /** The text if known, otherwise unknown. */
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

/** One stream after the other. A dangerous part makes the whole dangerous. */
export function joinStreams(first: Stream, second: Stream): Stream {
  if (first.kind === 'text' && first.text === '') return second;
  if (second.kind === 'text' && second.text === '') return first;
  if (first.kind === 'text' && second.kind === 'text') return textStream(first.text + second.text);
  const both = [first, second];
  return (
    both.find(({ kind }) => kind === 'fetched') ?? both.find(({ kind }) => kind === 'listing') ?? UNKNOWN
  );
}

/** The stream of these words: their text if all of it is known, otherwise their source. */
export function streamOf(fields: readonly Field[], end = ''): Stream {
  const texts = fields.map(({ exact }) => exact);
  if (texts.every((text) => text !== undefined))
    return textStream(
      texts.join(' ') + end,
      fields.every(({ literal }) => literal),
    );
  return fields.map((field) => field.source).find((one) => one !== undefined) ?? UNKNOWN;
}
