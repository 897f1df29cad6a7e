import canonicalize from 'canonicalize';
import { madeUpId } from '../call-origin.js';
import type { HistoryCall, HistoryShape, Piece, ResultPiece, TurnPiece } from './history-shape.js';

/** A call and its state during the repair. */
export interface Entry {
  readonly call: HistoryCall;
  readonly turn: TurnPiece;
  /** Calls of one cluster have no result between them. */
  readonly cluster: number;
  /** The id in the repaired history. */
  id: string | undefined;
  /** A copy of another call, to be removed. */
  isCopy: boolean;
  result: ResultPiece | undefined;
}

/** Calls that are answered together. */
export interface Round {
  readonly entries: Entry[];
  /** The position of its last piece. */
  end: number;
}

/** A result and the calls before it. */
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

/** Sorts pieces into rounds of calls and the results after them. */
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

/**
 * Gives ids to calls without one, and marks a call that occurs twice before the same results as a copy. An id
 * that occurs again later may be another call; its results decide.
 */
export function assignIds(entries: readonly Entry[]): void {
  const free = new FreeIds(entries);
  for (const entry of entries) {
    if (entry.id === undefined && !entry.call.byOrder) entry.id = free.take(madeUpId(entry.call.index));
  }
  for (const alike of byId(entries).values()) {
    const seen = new Set<string>();
    for (const entry of alike) {
      const likeness = `${entry.cluster} ${likenessOf(entry)}`;
      entry.isCopy = seen.has(likeness);
      seen.add(likeness);
    }
  }
}

/** After matching: a repeated call without a result is a copy; any other gets a new id. */
export function resolveRepeats(entries: readonly Entry[]): void {
  const free = new FreeIds(entries);
  for (const alike of byId(entries.filter(({ isCopy }) => !isCopy)).values()) {
    const answered = alike.filter(({ result }) => result !== undefined);
    const kept = new Set(answered.map(likenessOf));
    for (const entry of alike) {
      if (entry.result !== undefined) continue;
      entry.isCopy = kept.has(likenessOf(entry));
      kept.add(likenessOf(entry));
    }
    const [, ...renamed] = alike.filter(({ isCopy }) => !isCopy);
    for (const entry of renamed) entry.id = free.take(entry.id ?? '');
  }
}

/** Whether calls are identical, including their ids. */
export function areOneCall(entries: readonly Entry[]): boolean {
  return new Set(entries.map(likenessOf)).size <= 1;
}

const likenesses = new WeakMap<HistoryCall, string>();

function likenessOf({ call }: Entry): string {
  let likeness = likenesses.get(call);
  if (likeness === undefined) {
    likeness = spell(call.raw);
    likenesses.set(call, likeness);
  }
  return likeness;
}

function spell(raw: HistoryCall['raw']): string {
  try {
    return canonicalize(raw) ?? '';
  } catch {
    // Numbers beyond a double, and lone surrogates, have no canonical JSON. A copy has the same text.
    return JSON.stringify(raw, (_, value: unknown) =>
      typeof value === 'number' || typeof value === 'bigint' ? String(value) : value,
    );
  }
}

/** Groups calls with equal ids. */
function byId(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.id === undefined) continue;
    const group = groups.get(entry.id);
    if (group === undefined) groups.set(entry.id, [entry]);
    else group.push(entry);
  }
  return groups;
}

/** The limit of the strictest provider. */
const LONGEST_ID = 40;

class FreeIds {
  readonly #taken: Set<string>;
  /** Where the search for a free id continues. */
  readonly #next = new Map<string, number>();

  constructor(entries: readonly Entry[]) {
    this.#taken = new Set(entries.flatMap(({ id }) => id ?? []));
  }

  /** The wanted id, or the first free one with a number. */
  take(wanted: string): string {
    for (let number = this.#next.get(wanted) ?? 1; ; number++) {
      const suffix = number === 1 ? '' : `_${number}`;
      const id = `${wanted.slice(0, LONGEST_ID - suffix.length)}${suffix}`;
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      this.#next.set(wanted, number + 1);
      return id;
    }
  }
}
