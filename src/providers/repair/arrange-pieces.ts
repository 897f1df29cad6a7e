import type { ToolResult } from '../../contract/call.js';
import type { HistoryChange, HistoryFault } from './change.js';
import { describeChange } from './change.js';
import type { ArrangedPiece, HistoryShape, Piece, ResultPiece, TurnPiece } from './history-shape.js';
import type { Surplus } from './match-results.js';
import { unknownResult } from './match-results.js';
import type { Entry, Reading, Round } from './reading.js';

export interface Arrangement {
  readonly pieces: readonly ArrangedPiece[];
  /** In the order of the history. */
  readonly changes: readonly HistoryChange[];
}

export interface Matched {
  readonly reading: Reading;
  readonly surplus: Surplus;
  /** For calls without a result in the history, or with one from an earlier repair. */
  readonly found: ReadonlyMap<Entry, ToolResult>;
}

/** Puts every result in its place and lists the changes. */
export function arrangePieces(matched: Matched, shape: HistoryShape): Arrangement {
  return new Arranger(matched, shape).arrange();
}

class Arranger {
  readonly #matched: Matched;
  readonly #shape: HistoryShape;
  readonly #changes: HistoryChange[] = [];
  readonly #pieces: ArrangedPiece[] = [];
  /** The new form of messages with calls; removed ones are absent. */
  readonly #turns = new Map<TurnPiece, unknown>();
  /** Results in the correct place. */
  readonly #inPlace = new Set<ResultPiece>();
  /** The rounds whose results come before, or after, the piece with this index. */
  readonly #before = new Map<number, Round>();
  readonly #after = new Map<number, Round>();

  constructor(matched: Matched, shape: HistoryShape) {
    this.#matched = matched;
    this.#shape = shape;
    this.#addTurns();
    const stays = (piece: Piece | undefined): boolean => piece?.kind !== 'turn' || this.#turns.has(piece);
    for (const round of matched.reading.rounds) {
      // No result answers it, and the search would take as long as there are copies.
      if (round.entries.every(({ isCopy }) => isCopy)) continue;
      const { at, results } = findInPlace({ pieces: matched.reading.pieces, stays }, round, shape.results);
      for (const result of results) this.#inPlace.add(result);
      if (shape.results === 'items' && at !== undefined) this.#before.set(at, round);
      else this.#after.set(round.end, round);
    }
  }

  arrange(): Arrangement {
    for (const [at, piece] of this.#matched.reading.pieces.entries()) {
      this.#answer(this.#before.get(at));
      if (piece.kind === 'turn') this.#addTurn(piece);
      else if (piece.kind === 'other') this.#pieces.push(piece);
      else if (!this.#inPlace.has(piece)) this.#leaveGap(piece);
      this.#answer(this.#after.get(at));
    }
    return { pieces: this.#pieces, changes: this.#changes.toSorted((a, b) => a.at - b.at) };
  }

  #addTurns(): void {
    const edits = new Map<TurnPiece, Map<number, { readonly id: string } | 'drop'>>();
    for (const { call, turn, id, isCopy } of this.#matched.reading.entries) {
      const ofTurn = edits.get(turn) ?? new Map();
      edits.set(turn, ofTurn);
      if (isCopy) {
        ofTurn.set(call.index, 'drop');
        this.#note('duplicate_call', call.at, call.id, call.name);
      } else if (id !== undefined && id !== call.id) {
        ofTurn.set(call.index, { id });
        this.#note(call.id === undefined ? 'missing_id' : 'reused_id', call.at, call.id ?? id, call.name, id);
      }
    }
    for (const [turn, ofTurn] of edits) {
      const value = ofTurn.size === 0 ? turn.value : this.#shape.rewrite(turn, ofTurn);
      if (value !== undefined) this.#turns.set(turn, value);
    }
  }

  #addTurn(turn: TurnPiece): void {
    if (this.#turns.has(turn)) this.#pieces.push({ kind: 'turn', at: turn.at, value: this.#turns.get(turn) });
  }

  #answer(round: Round | undefined): void {
    for (const entry of round?.entries ?? []) {
      if (entry.isCopy) continue;
      if (entry.result === undefined) this.#addMissing(entry);
      else this.#addResult(entry, entry.result);
    }
  }

  #addResult(entry: Entry, result: ResultPiece): void {
    const { call, id } = entry;
    const isInPlace = this.#inPlace.has(result);
    if (!isInPlace) this.#note('misplaced_result', result.at, call.id ?? id, call.name);
    const isRenamed = id !== undefined && result.id !== undefined && result.id !== id;
    let value = isRenamed ? this.#shape.rename(result.value, id) : result.value;
    if (this.#matched.found.has(entry)) {
      value = this.#write(entry);
      this.#note('unknown_result', result.at, call.id ?? id, call.name, undefined, 'found');
    }
    this.#pieces.push({ kind: 'result', value, home: isInPlace ? result.at : undefined });
  }

  #addMissing(entry: Entry): void {
    const { call, id } = entry;
    const known = this.#matched.found.has(entry) ? 'found' : 'unknown';
    this.#note('missing_result', call.at, call.id ?? id, call.name, undefined, known);
    this.#pieces.push({ kind: 'result', value: this.#write(entry), home: undefined });
  }

  /** The result of a call in the format. */
  #write(entry: Entry): unknown {
    const { call, id } = entry;
    const callId = id ?? call.asked?.id ?? call.origin?.callId ?? '';
    const found = this.#matched.found.get(entry);
    const result = found === undefined ? unknownResult(callId, call.name) : { ...found, callId };
    return this.#shape.write(result, call.origin);
  }

  #leaveGap(result: ResultPiece): void {
    const fault = this.#matched.surplus.get(result);
    if (fault !== undefined) this.#note(fault, result.at, result.id, result.name);
    this.#pieces.push({ kind: 'gone', at: result.at });
  }

  #note(
    kind: HistoryFault,
    at: number,
    callId = '',
    name = '',
    newId?: string,
    result?: HistoryChange['result'],
  ): void {
    const message = describeChange({ kind, callId, name, newId, result });
    this.#changes.push({ kind, callId, at, message, ...(result === undefined ? {} : { result }) });
  }
}

interface InPlace {
  /** The position of the first one. */
  readonly at: number | undefined;
  readonly results: readonly ResultPiece[];
}

interface PiecesThatStay {
  readonly pieces: readonly Piece[];
  /** False for a piece that will be removed. */
  stays(piece: Piece | undefined): boolean;
}

/** The results of a round in the correct place, in the order of its calls. */
function findInPlace(
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
      // A result that belongs elsewhere will be removed from here.
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

/** The model's own text. */
function isAside(piece: Piece | undefined): boolean {
  return piece?.kind === 'other' && piece.by === 'model';
}
