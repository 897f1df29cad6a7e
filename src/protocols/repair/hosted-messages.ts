import { isRecord } from '../is-record.js';
import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import { assembleMessages } from './assemble-messages.js';
import type { CallEdits, HistoryShape } from './history-shape.js';
import type { Piece, ResultPiece, TurnPiece } from './piece.js';
import { readCallsOfTurn } from './read-calls-of-turn.js';

/** A format whose messages hold calls, results and texts as parts of a list. */
export interface HostFormat {
  /** The key of that list. */
  readonly parts: string;
  readonly modelRole: string;
  toPart(text: string): unknown;
  isCall(part: unknown): boolean;
  readCalls(message: unknown, tools: KnownTools): readonly RawCall[];
  withCallId(part: unknown, id: string): unknown;
  /** Whether a message makes sense that holds no more than this. */
  standsAlone(part: unknown): boolean;
  /** Undefined for what is no result. */
  readResult(part: unknown): Pick<ResultPiece, 'id' | 'name'> | undefined;
}

/** What such formats have in common. */
export function hostedMessages(
  format: HostFormat,
): Pick<HistoryShape, 'results' | 'read' | 'rewrite' | 'assemble'> {
  return {
    results: 'parts',
    read: (list, tools) => list.flatMap((message, at) => toPieces(message, at, format, tools)),
    rewrite: (turn, edits) => rewrite(turn, edits, format),
    assemble: (pieces, list) => assembleMessages(pieces, list, format),
  };
}

function toPieces(message: unknown, at: number, format: HostFormat, tools: KnownTools): readonly Piece[] {
  if (!isRecord(message)) return [{ kind: 'other', at, value: message, by: 'others' }];
  const parts = message[format.parts];
  if (message.role === format.modelRole) {
    if (Array.isArray(parts) && parts.some(format.isCall)) {
      const calls = readCallsOfTurn(format.readCalls(message, tools), at, tools);
      return [{ kind: 'turn', at, value: message, calls }];
    }
    return [{ kind: 'other', at, value: message, by: 'model' }];
  }
  if (!Array.isArray(parts) || !parts.some((part) => format.readResult(part) !== undefined)) {
    return [{ kind: 'other', at, value: message, by: 'others' }];
  }
  return parts.map((part: unknown): Piece => {
    const result = format.readResult(part);
    if (result !== undefined) return { kind: 'result', at, value: part, ...result };
    return { kind: 'other', at, value: part, by: 'others', part: true };
  });
}

function rewrite({ value }: TurnPiece, edits: CallEdits, format: HostFormat): unknown {
  const parts = isRecord(value) ? value[format.parts] : undefined;
  if (!isRecord(value) || !Array.isArray(parts)) return value;
  let index = -1;
  const kept = parts.flatMap((part: unknown) => {
    if (!format.isCall(part)) return [part];
    index += 1;
    const edit = edits.get(index);
    if (edit === undefined) return [part];
    return edit === 'drop' ? [] : [format.withCallId(part, edit.id)];
  });
  return kept.some((part) => format.standsAlone(part)) ? { ...value, [format.parts]: kept } : undefined;
}
