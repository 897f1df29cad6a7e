/** One word after expansion, as far as it can be told without running anything. */
export interface Field {
  readonly pieces: readonly Piece[];
  /** What is reported: the text without quotes, or the source where the text is not known. */
  readonly shown: string;
  /** Written out in the source, with or without quotes: no expansion of any kind. */
  readonly literal: boolean;
}

export type Piece =
  /** `assumed`: true of a usual environment (`$HOME`, `$PATH`), not certain. */
  | { readonly kind: 'text'; readonly text: string; readonly assumed: boolean }
  | { readonly kind: 'glob'; readonly text: string }
  /** `splits`: not in quotes, so it may be several words, or none. `from`: what it came of, or what the file it names holds. */
  | {
      readonly kind: 'unknown';
      readonly numeric: boolean;
      readonly splits: boolean;
      readonly from?: Stream;
      readonly computed?: boolean | undefined;
    };

/** What is known of the bytes that go through a pipe, or of what a command prints. */
export type Stream =
  | { readonly kind: 'text'; readonly text: string; readonly literal: boolean }
  /** Came from the network. */
  | { readonly kind: 'fetched'; readonly from: string }
  /** Names of files below a path, one a line. */
  | { readonly kind: 'listing'; readonly root: string }
  /** The content of a file that holds secrets. */
  | { readonly kind: 'secret'; readonly path: string }
  /** The path of a directory that the system names: where the call starts, or a new one. Empty, if that failed. */
  | { readonly kind: 'directory'; readonly isNew: boolean }
  /** What a shell answers whose input is not known. */
  | { readonly kind: 'shell' }
  /** Whatever the shell itself was given. */
  | { readonly kind: 'inherited' }
  /** `computed`: from what is written out, in a way that is not followed. */
  | { readonly kind: 'unknown'; readonly numeric: boolean; readonly computed?: boolean | undefined };

export const NOTHING: Stream = { kind: 'text', text: '', literal: true };
export const UNKNOWN: Stream = { kind: 'unknown', numeric: false };
/** What another program makes of text that is written out. */
export const COMPUTED: Stream = { kind: 'unknown', numeric: false, computed: true };
export const NUMBER: Stream = { kind: 'unknown', numeric: true };
export const INHERITED: Stream = { kind: 'inherited' };

const MAX_KNOWN = 65_536;

export function textStream(text: string, literal = false): Stream {
  return text.length > MAX_KNOWN ? UNKNOWN : { kind: 'text', text, literal };
}

/** One after the other. What is dangerous to run stays dangerous beside anything else. */
export function joinStreams(first: Stream, second: Stream): Stream {
  if (first.kind === 'text' && first.text === '') return second;
  if (second.kind === 'text' && second.text === '') return first;
  if (first.kind === 'text' && second.kind === 'text') return textStream(first.text + second.text);
  for (const kind of ['fetched', 'secret', 'shell', 'listing'] as const) {
    if (first.kind === kind) return first;
    if (second.kind === kind) return second;
  }
  return [first, second].some((one) => one.kind === 'unknown' && one.computed) ? COMPUTED : UNKNOWN;
}

/** What comes of words of which not all are known. */
export function streamFrom(fields: readonly { readonly pieces: readonly Piece[] }[]): Stream {
  const source = fields.map(sourceOf).find((one) => one !== undefined);
  return source ?? (fields.some(isComputed) ? COMPUTED : UNKNOWN);
}

/** What a command reads from a here-document or here-string. */
export function streamOf(pieces: readonly Piece[], literal: boolean, end: string): Stream {
  const field = { pieces, shown: '', literal };
  const text = exactText(field);
  return text === undefined ? streamFrom([field]) : textStream(text + end, literal);
}

export function textPiece(text: string, assumed = false): Piece {
  return { kind: 'text', text, assumed };
}

export function literalField(text: string, literal = true): Field {
  return { pieces: [textPiece(text)], shown: text, literal };
}

export const UNKNOWN_TEXT = { kind: 'unknown', numeric: false, splits: false } as const satisfies Piece;

export const UNKNOWN_FIELD: Field = { pieces: [UNKNOWN_TEXT], shown: '$?', literal: false };

/** The text, when all of it is known. */
export function exactText({ pieces }: { readonly pieces: readonly Piece[] }): string | undefined {
  let text = '';
  for (const piece of pieces) {
    if (piece.kind !== 'text') return undefined;
    text += piece.text;
  }
  return text;
}

/** The texts of all of them; undefined: one is not known. */
export function exactTexts(fields: readonly Field[]): string[] | undefined {
  const texts = fields.map(exactText);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** The text with what is unknown left out: what a variable that is not set would make of it. */
export function knownText({ pieces }: { readonly pieces: readonly Piece[] }): string {
  return pieces.map((piece) => (piece.kind === 'unknown' ? '' : piece.text)).join('');
}

export function isAssumed({ pieces }: { readonly pieces: readonly Piece[] }): boolean {
  return pieces.some((piece) => piece.kind === 'text' && piece.assumed);
}

/** Part of it is computed, in a way that is not followed: it may be anything on purpose. */
export function isComputed({ pieces }: { readonly pieces: readonly Piece[] }): boolean {
  return pieces.some((piece) => piece.kind === 'unknown' && piece.computed === true);
}

/** A file or directory that `mktemp` has just made, and nothing else. */
export function isNewFile({ pieces: [only, ...more] }: Field): boolean {
  return only?.kind === 'unknown' && only.from?.kind === 'directory' && only.from.isNew && more.length === 0;
}

export function startsUnknown({ pieces }: Field): boolean {
  return pieces[0]?.kind === 'unknown';
}

/** The field without its first characters, which must be known text (`of=` of `of=/dev/sda`). */
export function dropPrefix(field: Field, length: number): Field {
  const pieces: Piece[] = [];
  let left = length;
  for (const piece of field.pieces) {
    if (left === 0 || piece.kind !== 'text') pieces.push(piece);
    else {
      const rest = piece.text.slice(left);
      left -= piece.text.length - rest.length;
      if (rest !== '') pieces.push({ ...piece, text: rest });
    }
  }
  return { pieces, shown: field.shown.slice(length), literal: field.literal };
}

/** Several words as one, with a space between them. */
export function joinFields(words: readonly Field[]): Field {
  return {
    pieces: words.flatMap((word, index) => (index === 0 ? word.pieces : [textPiece(' '), ...word.pieces])),
    shown: words.map(({ shown }) => shown).join(' '),
    literal: words.every(({ literal }) => literal),
  };
}

/** What a computed word came of: the output of a substitution. */
export function sourceOf({ pieces }: { readonly pieces: readonly Piece[] }): Stream | undefined {
  for (const piece of pieces) if (piece.kind === 'unknown' && piece.from !== undefined) return piece.from;
  return undefined;
}
