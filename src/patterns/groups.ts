import { type Group, isGroup, type Piece, RUN, takes } from './wildcard.js';

/**
 * Pieces with groups, as states of an automaton. Matching follows all readings together: the time is pattern
 * times text without `!(..)`, and pattern times text squared with it.
 */
export type Automaton = readonly State[];

type State =
  /** Takes one character and continues with the next state. */
  | { readonly kind: 'take'; readonly piece: Piece }
  /** Takes any characters and continues. */
  | { readonly kind: 'run' }
  /** Continues with each of these states without taking a character. */
  | { readonly kind: 'fork'; to: readonly number[] }
  /** Takes any characters that the other automaton does not accept. */
  | { readonly kind: 'except'; readonly automaton: Automaton }
  | { readonly kind: 'end' };

export function buildAutomaton(pieces: readonly Piece[]): Automaton {
  const states: State[] = [];
  addPieces(states, pieces);
  states.push({ kind: 'end' });
  return states;
}

function addPieces(states: State[], pieces: readonly Piece[]): void {
  for (const piece of pieces) {
    if (isGroup(piece)) addGroup(states, piece);
    else states.push(piece === RUN ? { kind: 'run' } : { kind: 'take', piece });
  }
}

function addGroup(states: State[], group: Group): void {
  const { kind, alternatives } = group;
  if (kind === '!') {
    states.push({ kind: 'except', automaton: buildAutomaton([{ kind: '@', alternatives }]) });
    return;
  }
  const first = states.length;
  const choice: State & { kind: 'fork' } = { kind: 'fork', to: [] };
  states.push(choice);
  const starts: number[] = [];
  const leaving: (State & { kind: 'fork' })[] = [];
  for (const alternative of alternatives) {
    starts.push(states.length);
    addPieces(states, alternative);
    const leave: State & { kind: 'fork' } = { kind: 'fork', to: [] };
    states.push(leave);
    leaving.push(leave);
  }
  const after = states.length;
  choice.to = kind === '?' || kind === '*' ? [...starts, after] : starts;
  for (const leave of leaving) leave.to = kind === '*' || kind === '+' ? [first, after] : [after];
}

export function matchesAutomaton(automaton: Automaton, characters: ArrayLike<string>): boolean {
  return endsFrom(automaton, characters, 0).has(characters.length);
}

/** The positions where a text accepted by the automaton can end, if it starts at `from`. */
function endsFrom(automaton: Automaton, characters: ArrayLike<string>, from: number): ReadonlySet<number> {
  const ends = new Set<number>();
  const waiting = new Map<number, Set<number>>([[from, new Set([0])]]);
  const reach = (at: number, state: number): void => {
    const known = waiting.get(at);
    if (known === undefined) waiting.set(at, new Set([state]));
    else known.add(state);
  };
  for (let at = from; at <= characters.length; at++) {
    // States that are added during the loop are visited too.
    for (const index of waiting.get(at) ?? []) {
      const state = automaton[index] as State;
      const isMore = at < characters.length;
      if (state.kind === 'end') ends.add(at);
      else if (state.kind === 'fork') for (const to of state.to) reach(at, to);
      else if (state.kind === 'run') {
        reach(at, index + 1);
        if (isMore) reach(at + 1, index);
      } else if (state.kind === 'take') {
        if (isMore && takes(state.piece, characters[at] as string)) reach(at + 1, index + 1);
      } else {
        const excepted = endsFrom(state.automaton, characters, at);
        for (let end = at; end <= characters.length; end++) if (!excepted.has(end)) reach(end, index + 1);
      }
    }
    waiting.delete(at);
  }
  return ends;
}
