import { JsonTextError } from '../../base/json-text-error.js';
import type { Awaitable, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import type { ToolLike } from '../known-tools.js';
import { KnownTools } from '../known-tools.js';
import { type HistoryFormat, historyOf, PROVIDERS, type WireFormat } from '../registry.js';
import { arrangePieces } from './arrange-pieces.js';
import type { HistoryChange } from './change.js';
import type { Piece } from './history-shape.js';
import { HistoryText } from './history-text.js';
import { type LocatedHistory, locateHistory } from './locate-history.js';
import { isOpenResult, matchResults, type Surplus } from './match-results.js';
import { assignIds, type Entry, type Reading, resolveRepeats, toReading } from './reading.js';

/**
 * Finds the recorded result of a call without one in the history; undefined if there is none.
 * @param madeUp true if the history has no id for this call: `callId` is made up from its position in the
 * message, and does not name a call of a journal. Its turn is unknown, because a history does not contain the
 * ids of responses.
 */
export type FindResult = (
  callId: string,
  toolName: string,
  args: JsonObject,
  madeUp?: true,
) => Awaitable<ToolResult | undefined>;

/** The synchronous form. */
export type FindResultNow = (...call: Parameters<FindResult>) => ToolResult | undefined;

export interface RepairOptions<F extends FindResult = FindResult> {
  /** If absent: it is detected. */
  readonly format?: WireFormat;
  /** Called for readable calls. If absent: a call without a result is answered `outcome_unknown`. */
  readonly find?: F;
  /** The tools that the model was shown with `describeTools`: `find` receives their own names. */
  readonly tools?: readonly ToolLike[];
}

export interface RepairedHistory<T> {
  /** In the form of the input; the same value if nothing was wrong. */
  readonly history: T;
  /** The corrected faults in order; empty for a valid history. */
  readonly changes: readonly HistoryChange[];
  readonly format: HistoryFormat;
}

/**
 * Repairs a conversation whose calls and results do not match: a list of messages or items, a request body,
 * or the JSON text of either. Every call and every text stays, and each call gets exactly one result where
 * the provider expects it: the first real one in the history, else the one from `find`, else
 * `outcome_unknown`. A later repair replaces that, and the answer of a call that waited for approval, by the
 * result from `find`. A valid history is returned unchanged, and a repaired one is valid. The input is not
 * changed.
 *
 * Returns a promise if `find` does.
 * @throws ToolError `config_invalid` if it is not a history; any error of `find`.
 */
export function repairHistory<T>(history: T, options?: RepairOptions<FindResultNow>): RepairedHistory<T>;
export function repairHistory<T>(history: T, options: RepairOptions): Awaitable<RepairedHistory<T>>;
export function repairHistory(
  history: unknown,
  options: RepairOptions = {},
): Awaitable<RepairedHistory<unknown>> {
  return typeof history === 'string' ? repairText(history, options) : repairValue(history, options);
}

function repairValue(history: unknown, options: RepairOptions): Awaitable<RepairedHistory<unknown>> {
  const matched = matchHistory(history, options);
  const { find } = options;
  const answers = matched.wanting.map(({ call: { asked } }) => {
    if (asked === undefined || find === undefined) return undefined;
    const { id, name, args, madeUp } = asked;
    return madeUp === undefined ? find(id, name, args) : find(id, name, args, madeUp);
  });
  const found = answers.map((answer) => (isPending(answer) ? undefined : answer));
  if (!answers.some(isPending)) return mendHistory(history, matched, found);
  return Promise.all(answers).then((results) => mendHistory(history, matched, results));
}

function isPending<T>(answer: Awaitable<T>): answer is Promise<T> {
  return typeof answer === 'object' && answer !== null && 'then' in answer;
}

function repairText(text: string, options: RepairOptions): Awaitable<RepairedHistory<string>> {
  const written = readText(text);
  const repaired = repairValue(written.value, options);
  const toText = ({ history, changes, format }: RepairedHistory<unknown>) => ({
    history: changes.length === 0 ? text : written.write(history),
    changes,
    format,
  });
  return isPending(repaired) ? repaired.then(toText) : toText(repaired);
}

function readText(text: string): HistoryText {
  try {
    return new HistoryText(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const reason = text.trim() === '' ? 'it is empty.' : `it is not valid JSON: ${error.detail}`;
    throw new ToolError('config_invalid', `Cannot repair the history: ${reason}`, { cause: error });
  }
}

/** A history with matched calls and results, before any change. */
interface MatchedHistory {
  readonly located: LocatedHistory;
  readonly reading: Reading;
  readonly surplus: Surplus;
  /** Calls without a result, and those with a provisional one. */
  readonly wanting: readonly Entry[];
}

/** @throws ToolError `config_invalid` if it is not a history. */
function matchHistory(
  history: unknown,
  options: { readonly format?: WireFormat; readonly tools?: readonly ToolLike[] },
): MatchedHistory {
  return guarded(() => {
    const located = locateHistory(history, options.format);
    const shape = historyOf(located.format);
    const read = shape.read(located.list, new KnownTools(PROVIDERS[located.format].names, options.tools));
    const pieces = located.continues ? leaveAnswersToOthers(read) : read;
    const reading = toReading(pieces, shape);
    assignIds(reading.entries);
    const surplus = matchResults(reading);
    resolveRepeats(reading.entries);
    const wanting = reading.entries.filter(
      ({ isCopy, result }) => !isCopy && (result === undefined || isOpenResult(result.value)),
    );
    return { located, reading, surplus, wanting };
  });
}

interface MendedHistory {
  readonly history: unknown;
  readonly changes: readonly HistoryChange[];
  readonly format: HistoryFormat;
}

/** @param found the results of the calls that need one, in their order. */
function mendHistory(
  history: unknown,
  { located, reading, surplus, wanting }: MatchedHistory,
  found: readonly (ToolResult | undefined)[],
): MendedHistory {
  return guarded(() => {
    const { format, list } = located;
    const shape = historyOf(format);
    const results = new Map<Entry, ToolResult>();
    for (const [at, entry] of wanting.entries()) {
      const result = found[at];
      // A result without more information changes nothing.
      if (result === undefined || (entry.result !== undefined && isOpenResult(result.error))) continue;
      results.set(entry, result);
    }
    const { pieces, changes } = arrangePieces({ reading, surplus, found: results }, shape);
    if (changes.length === 0) return { history, changes, format };
    return { history: located.put(shape.assemble(pieces, list)), changes, format };
  });
}

/** Results of calls that only the server has stay unchanged. */
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

// A caller's getter or proxy may throw anything, and deep nesting exhausts the stack.
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isToolError(error)) throw error;
    const reason = error instanceof Error ? error.message : 'it throws when it is read';
    throw new ToolError('config_invalid', `Cannot repair the history: ${reason}.`, { cause: error });
  }
}
