import { exactText, type Piece, sourceOf } from './field.js';
import { type Stream, textStream, UNKNOWN } from './stream.js';

/** What a command reads from a here-document or here-string. */
export function fromPieces(pieces: readonly Piece[], isLiteral: boolean, end: string): Stream {
  const text = exactText({ pieces, shown: '', literal: isLiteral });
  if (text === undefined) return sourceOf({ pieces, shown: '', literal: false }) ?? UNKNOWN;
  const stream = textStream(text + end);
  return stream.kind === 'text' ? { ...stream, literal: isLiteral } : stream;
}
