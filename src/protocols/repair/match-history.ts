import type { ToolResult } from '../../contract/call.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { KnownTools } from '../known-tools.js';
import type { ToolLike } from '../tool-like.js';
import type { WireFormat } from '../wire-format.js';
import { arrangePieces } from './arrange-pieces.js';
import type { HistoryChange } from './change.js';
import { HISTORY_SHAPES, type HistoryFormat } from './history-shapes.js';
import { type LocatedHistory, locateHistory } from './locate-history.js';
import { matchResults, type Spare } from './match-results.js';
import type { Piece } from './piece.js';
import { type Entry, type Reading, toReading } from './reading.js';
import { settleCalls, settleRepeats } from './settle-calls.js';
import { isOpenResult } from './unknown-result.js';

/** A history with its calls and results sorted out, before anything is changed. */
export interface MatchedHistory {
  readonly located: LocatedHistory;
  readonly reading: Reading;
  readonly spare: Spare;
  /** Calls without a result, and those whose answer was not the last word. */
  readonly wanting: readonly Entry[];
}

/** @throws ToolError `config_invalid` for what is no history. */
export function matchHistory(
  history: unknown,
  options: { readonly format?: WireFormat; readonly tools?: readonly ToolLike[] },
): MatchedHistory {
  return guarded(() => {
    const located = locateHistory(history, options.format);
    const shape = HISTORY_SHAPES[located.format];
    const read = shape.read(located.list, new KnownTools(located.format, options.tools));
    const pieces = located.continues ? leaveAnswersToOthers(read) : read;
    const reading = toReading(pieces, shape);
    settleCalls(reading.entries);
    const spare = matchResults(reading);
    settleRepeats(reading.entries);
    const wanting = reading.entries.filter(
      ({ isCopy, result }) => !isCopy && (result === undefined || isOpenResult(result.value)),
    );
    return { located, reading, spare, wanting };
  });
}

export interface MendedHistory {
  readonly history: unknown;
  readonly changes: readonly HistoryChange[];
  readonly format: HistoryFormat;
}

/** @param found the results of the calls that want one, in their order. */
export function mendHistory(
  history: unknown,
  { located, reading, spare, wanting }: MatchedHistory,
  found: readonly (ToolResult | undefined)[],
): MendedHistory {
  return guarded(() => {
    const { format, list } = located;
    const shape = HISTORY_SHAPES[format];
    const results = new Map<Entry, ToolResult>();
    for (const [at, entry] of wanting.entries()) {
      const result = found[at];
      // What says no more than what is there changes nothing.
      if (result === undefined || (entry.result !== undefined && isOpenResult(result.error))) continue;
      results.set(entry, result);
    }
    const { pieces, changes } = arrangePieces({ reading, spare, found: results }, shape);
    if (changes.length === 0) return { history, changes, format };
    return { history: located.put(shape.assemble(pieces, list)), changes, format };
  });
}

/** Results of calls that only the server has are none of ours to judge. */
function leaveAnswersToOthers(pieces: readonly Piece[]): readonly Piece[] {
  const asked = new Set(
    pieces.flatMap((piece) => (piece.kind === 'turn' ? piece.calls.map(({ id }) => id) : [])),
  );
  return pieces.map((piece) =>
    piece.kind === 'result' && !asked.has(piece.id)
      ? { kind: 'other', at: piece.at, value: piece.value, by: 'model' }
      : piece,
  );
}

// A getter or a proxy of the caller may throw anything, and what is nested too deeply exhausts the stack.
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isToolError(error)) throw error;
    const reason = error instanceof Error ? error.message : 'it throws when it is read';
    throw new ToolError('config_invalid', `Cannot repair the history: ${reason}.`, { cause: error });
  }
}
