import type { HistoryShape } from './history-shape.js';
import type { Piece, ResultPiece } from './piece.js';
import type { Round } from './reading.js';

export interface InPlace {
  /** Where the first of them stands. */
  readonly at: number | undefined;
  readonly results: readonly ResultPiece[];
}

export interface PiecesThatStay {
  readonly pieces: readonly Piece[];
  /** False for one that will be gone: it stands between nothing. */
  stays(piece: Piece | undefined): boolean;
}

/** The results of a round that stand where the format wants them, in the order of its calls. */
export function findInPlace(
  { pieces, stays }: PiecesThatStay,
  round: Round,
  wanted: HistoryShape['results'],
): InPlace {
  const order = new Map(round.entries.map(({ result }, at) => [result, at]));
  const results: ResultPiece[] = [];
  let first: number | undefined;
  let last = -1;
  for (let at = round.end + 1; at < pieces.length; at++) {
    const piece = pieces[at];
    if (!stays(piece)) continue;
    if (piece?.kind === 'result') {
      const place = order.get(piece) ?? -1;
      const isTogether = wanted !== 'parts' || piece.at === (results[0] ?? piece).at;
      // One that belongs elsewhere will be gone from here.
      if (place <= last || !isTogether) continue;
      first ??= at;
      last = place;
      results.push(piece);
    } else if (wanted !== 'items' || first !== undefined || !isAside(piece)) {
      break;
    }
  }
  return { at: first, results };
}

/** What the model itself said besides. */
function isAside(piece: Piece | undefined): boolean {
  return piece?.kind === 'other' && piece.by === 'model';
}
