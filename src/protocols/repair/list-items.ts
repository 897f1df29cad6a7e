import type { ArrangedPiece } from './piece.js';

/** `assemble` of formats in which every piece is an element of the list. */
export function listItems(pieces: readonly ArrangedPiece[]): readonly unknown[] {
  return pieces.flatMap((piece) => (piece.kind === 'gone' ? [] : [piece.value]));
}
