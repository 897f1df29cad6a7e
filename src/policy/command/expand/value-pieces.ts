import type { Piece } from '../field.js';
import { textPiece } from '../field.js';
import type { Value } from '../scope.js';
import type { Stream } from '../stream.js';
import { toGlobPieces } from './glob-match.js';

/** What a substitution gives: the output without the line ends behind it. */
export function fromStream(output: Stream): Value {
  if (output.kind === 'text') return { kind: 'text', text: output.text.replace(/\n+$/, ''), assumed: false };
  return { kind: 'unknown', numeric: output.kind === 'unknown' && output.numeric, from: output };
}

function from({ from: source }: { readonly from?: Stream }): { readonly from?: Stream } {
  return source === undefined ? {} : { from: source };
}

/** Of a list each item is a word; joined by spaces it splits into the same ones, or is split further. */
export function toPieces(value: Value, isQuoted: boolean): Piece[] {
  if (value.kind === 'unknown')
    return [{ kind: 'unknown', numeric: value.numeric, splits: !isQuoted, ...from(value) }];
  if (value.kind === 'text') {
    return value.pattern === true ? toGlobPieces(value.text, true) : [textPiece(value.text, value.assumed)];
  }
  return value.items.flatMap((item, index) => [...(index === 0 ? [] : [LIST_BREAK]), textPiece(item)]);
}

/** Between the items of `$@`: a word ends here, in quotes too. */
export const LIST_BREAK: Piece = { kind: 'text', text: ' ', assumed: false };
