import type { HistoryShape } from './history-shape.js';
import type { HistoryCall, Piece, ResultPiece, TurnPiece } from './piece.js';

/** A call and what becomes of it. */
export interface Entry {
  readonly call: HistoryCall;
  readonly turn: TurnPiece;
  /** Calls of one cluster stand together, without a result between them. */
  readonly cluster: number;
  /** In the mended history. */
  id: string | undefined;
  /** The same call as another one, and taken out. */
  isCopy: boolean;
  result: ResultPiece | undefined;
}

/** Calls that are answered together. */
export interface Round {
  readonly entries: Entry[];
  /** Where its last piece stands. */
  end: number;
}

/** A result and the calls that it stands behind. */
export interface Answer {
  readonly piece: ResultPiece;
  readonly cluster: number;
}

export interface Reading {
  readonly pieces: readonly Piece[];
  readonly rounds: readonly Round[];
  readonly entries: readonly Entry[];
  readonly answers: readonly Answer[];
}

/** Sorts pieces into rounds of calls and the results that stand behind them. */
export function toReading(pieces: readonly Piece[], shape: Pick<HistoryShape, 'results'>): Reading {
  const rounds: Round[] = [];
  const entries: Entry[] = [];
  const answers: Answer[] = [];
  let cluster = 0;
  let answered = false;
  let open: Round | undefined;
  for (const [at, piece] of pieces.entries()) {
    if (piece.kind === 'turn') {
      if (answered) cluster += 1;
      answered = false;
      if (open === undefined) {
        open = { entries: [], end: at };
        rounds.push(open);
      }
      const found = piece.calls.map((call) => toEntry(call, piece, cluster));
      open.entries.push(...found);
      open.end = at;
      entries.push(...found);
      if (shape.results !== 'items') open = undefined;
    } else if (piece.kind === 'result') {
      answers.push({ piece, cluster });
      answered = true;
      open = undefined;
    } else if (piece.by === 'others') {
      open = undefined;
    }
  }
  return { pieces, rounds, entries, answers };
}

function toEntry(call: HistoryCall, turn: TurnPiece, cluster: number): Entry {
  return { call, turn, cluster, id: call.id, isCopy: false, result: undefined };
}
