import type { Stream } from './stream.js';

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
  | { readonly kind: 'unknown'; readonly numeric: boolean; readonly splits: boolean; readonly from?: Stream };

export function textPiece(text: string, assumed = false): Piece {
  return { kind: 'text', text, assumed };
}

export function literalField(text: string): Field {
  return { pieces: [textPiece(text)], shown: text, literal: true };
}

export const UNKNOWN_TEXT = { kind: 'unknown', numeric: false, splits: false } as const satisfies Piece;

export const UNKNOWN_FIELD: Field = { pieces: [UNKNOWN_TEXT], shown: '$?', literal: false };

/** The text, when all of it is known. */
export function exactText(field: Field): string | undefined {
  let text = '';
  for (const piece of field.pieces) {
    if (piece.kind !== 'text') return undefined;
    text += piece.text;
  }
  return text;
}

/** The text with what is unknown left out: what a variable that is not set would make of it. */
export function knownText(field: Field): string {
  return field.pieces.map((piece) => (piece.kind === 'unknown' ? '' : piece.text)).join('');
}

export function isAssumed(field: Field): boolean {
  return field.pieces.some((piece) => piece.kind === 'text' && piece.assumed);
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

/** What a computed word came of: the output of a substitution. */
export function sourceOf({ pieces }: Field): Stream | undefined {
  for (const piece of pieces) if (piece.kind === 'unknown' && piece.from !== undefined) return piece.from;
  return undefined;
}
