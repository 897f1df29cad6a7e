import { isWaitingAnswer } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import type { ResultPiece } from './history-shape.js';
import type { Answer, Entry, Reading } from './reading.js';
import { areOneCall } from './reading.js';

/** Results without a use, and the reason for each removal. */
export type Surplus = ReadonlyMap<ResultPiece, 'orphan_result' | 'duplicate_result'>;

/**
 * Assigns results to calls: by id if that names one call, otherwise by position after the calls. The first
 * real result of a call counts. A result without an id is never assigned to a later call, because its own
 * call may have been cut off.
 */
export function matchResults({ entries, answers }: Reading): Surplus {
  const live = entries.filter(({ isCopy }) => !isCopy);
  const matching = new Matching(live);
  const unclear = answers.filter((answer) => !matching.byId(answer));
  const unplaced = inGroups(unclear, (answer) => `${answer.cluster} ${matching.labelOf(answer)}`).flatMap(
    (group) => matching.byPlace(group),
  );
  for (const group of inGroups(unplaced, (answer) => matching.labelOf(answer))) matching.byRest(group);
  return matching.surplus;
}

class Matching {
  readonly surplus = new Map<ResultPiece, 'orphan_result' | 'duplicate_result'>();
  readonly #byId = new Map<string, Entry[]>();
  readonly #byCluster = new Map<number, Entry[]>();

  constructor(live: readonly Entry[]) {
    for (const entry of live) {
      if (entry.id !== undefined) addTo(this.#byId, entry.id, entry);
      addTo(this.#byCluster, entry.cluster, entry);
    }
  }

  /** False if the id does not name exactly one call. */
  byId({ piece }: Answer): boolean {
    const named = this.#named(piece);
    const [entry] = named;
    if (entry === undefined || named.length > 1) return false;
    this.#give(entry, piece);
    return true;
  }

  /** The label of a result whose id does not identify it. */
  labelOf(answer: Answer): string {
    const { piece } = answer;
    return this.#isNamed(answer) ? `id ${piece.id}` : `name ${piece.name}`;
  }

  /** Assigns results to the calls before them. @returns the remaining ones. */
  byPlace(group: readonly Answer[]): readonly Answer[] {
    const [first] = group;
    if (first === undefined) return [];
    const distinct = this.#isNamed(first) ? this.#withoutEqual(group) : group;
    const waiting = (this.#byCluster.get(first.cluster) ?? []).filter((entry) => this.#fits(entry, first));
    const chosen = chooseCalls(waiting, distinct.length);
    for (const [at, entry] of chosen.entries()) entry.result = distinct[at]?.piece;
    return distinct.slice(chosen.length);
  }

  /** Assigns results with an id to the nearest earlier call that waits with that id. */
  byRest(group: readonly Answer[]): void {
    const [first] = group;
    if (first === undefined) return;
    const isNamed = this.#isNamed(first);
    const named = this.#named(first.piece);
    const waiting: Entry[] = [];
    let next = 0;
    for (const { piece, cluster } of group) {
      for (let entry = named[next]; entry !== undefined && entry.cluster <= cluster; entry = named[++next]) {
        if (entry.result === undefined) waiting.push(entry);
      }
      const entry = waiting.pop() ?? this.#onlyOne(named);
      if (entry === undefined) this.surplus.set(piece, isNamed ? 'duplicate_result' : 'orphan_result');
      else entry.result = piece;
    }
  }

  /** Identical calls without a result count as one. */
  #onlyOne(named: readonly Entry[]): Entry | undefined {
    if (named[0] === undefined || named[0].result !== undefined) return undefined;
    return named.every(({ result }) => result === undefined) && areOneCall(named) ? named[0] : undefined;
  }

  #isNamed({ piece }: Answer): boolean {
    return this.#named(piece).length > 0;
  }

  #fits(entry: Entry, answer: Answer): boolean {
    if (entry.result !== undefined) return false;
    return this.#isNamed(answer) ? entry.id === answer.piece.id : fitsByName(entry, answer.piece);
  }

  #named({ id }: ResultPiece): readonly Entry[] {
    return id === undefined ? [] : (this.#byId.get(id) ?? []);
  }

  #give(entry: Entry, piece: ResultPiece): void {
    const { result } = entry;
    const wins = result === undefined || (isOpenResult(result.value) && !isOpenResult(piece.value));
    if (result !== undefined) this.surplus.set(wins ? result : piece, 'duplicate_result');
    if (wins) entry.result = piece;
  }

  #withoutEqual(group: readonly Answer[]): readonly Answer[] {
    const seen = new Set<string>();
    return group.filter(({ piece }) => {
      const text = JSON.stringify(piece.value);
      if (seen.has(text)) this.surplus.set(piece, 'duplicate_result');
      const isNew = !seen.has(text);
      seen.add(text);
      return isNew;
    });
  }
}

/** Groups results that compete for the same calls. */
function inGroups(
  answers: readonly Answer[],
  labelOf: (answer: Answer) => string,
): readonly (readonly Answer[])[] {
  const groups = new Map<string, Answer[]>();
  for (const answer of answers) addTo(groups, labelOf(answer), answer);
  return [...groups.values()];
}

function fitsByName({ call, id }: Entry, piece: ResultPiece): boolean {
  if (piece.name === undefined || piece.name !== call.name) return false;
  return id === undefined || piece.id === undefined;
}

/** With fewer results than calls, the calls of the nearest messages are chosen. */
function chooseCalls(waiting: readonly Entry[], count: number): readonly Entry[] {
  const turns = new Map<unknown, Entry[]>();
  for (const entry of waiting) addTo(turns, entry.turn, entry);
  const chosen = new Set<Entry>();
  for (const entries of [...turns.values()].toReversed()) {
    for (const entry of entries.slice(0, count - chosen.size)) chosen.add(entry);
  }
  return waiting.filter((entry) => chosen.has(entry));
}

function addTo<K, V>(groups: Map<K, V[]>, key: K, value: V): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}

const MESSAGE =
  'The outcome of this call is unknown (outcome_unknown): there is no result of it. It may have run, or not. ' +
  'Look at what it would have changed before repeating it.';

/** The answer of a call with an unknown result. */
export function unknownResult(callId: string, toolName: string): ToolResult {
  return {
    callId,
    toolName,
    success: false,
    output: '',
    error: { code: 'outcome_unknown', message: MESSAGE, details: { executed: 'maybe' } },
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  };
}

/**
 * Whether a result in any format is our provisional one: from an earlier repair, or of a call that waited for
 * approval. A real result replaces it.
 */
export function isOpenResult(written: unknown): boolean {
  return says(written, DEEPEST);
}

/** No format nests it deeper. */
const DEEPEST = 4;

function says(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isOurs(value.replace(/^Error: /, ''));
  if (typeof value !== 'object' || value === null) return false;
  return depth > 0 && Object.values(value).some((member) => says(member, depth - 1));
}

/** In every format the text stands alone, or is the text of a failure. A text that only quotes it is not ours. */
function isOurs(text: string): boolean {
  return text === MESSAGE || isWaitingAnswer(text);
}
