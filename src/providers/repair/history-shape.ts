import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { CallOrigin } from '../call-origin.js';
import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import { resolveCall } from '../resolve-call.js';
import { type Fields, isRecord } from '../unknown-value.js';

/** Edits of the calls in one piece, by index: remove it, or set another id. */
export type CallEdits = ReadonlyMap<number, { readonly id: string } | 'drop'>;

/** The structure of conversations in one format. Pure; values are never changed, only replaced. */
export interface HistoryShape {
  /** The key of the list in a request body. If absent: the list stands alone. */
  readonly bodyKey?: string;
  /** A single text or content may stand in place of the list; it holds no calls. */
  readonly maySpeakAlone?: true;
  /**
   * Whether a list whose elements do not show their format may be of this one. For a list that stands alone
   * the body is empty.
   */
  mayBe(list: readonly unknown[], body: Fields): boolean;
  /** Whether the server holds the earlier part: then a result may answer a call that is not in the list. */
  continues?(list: readonly unknown[], body: Fields): boolean;
  /** Whether an element of the list shows that it is of this format and no other. */
  speaks(element: Fields): boolean;
  read(list: readonly unknown[], tools: KnownTools): readonly Piece[];
  /**
   * The place of results. `items`: separate, after the calls and the model's other items. `messages`:
   * separate, directly after the message with the calls. `parts`: all in one message directly after it.
   */
  readonly results: 'items' | 'messages' | 'parts';
  /** The piece with edited calls; undefined if nothing is left that can stand alone. */
  rewrite(turn: TurnPiece, edits: CallEdits): unknown;
  rename(result: unknown, id: string): unknown;
  write(result: ToolResult, origin: CallOrigin | undefined): unknown;
  /** Builds the list from the pieces; unchanged elements are kept. */
  assemble(pieces: readonly ArrangedPiece[], list: readonly unknown[]): readonly unknown[];
}

/** A call in a history. */
export interface HistoryCall {
  /** The index of its message or item. */
  readonly at: number;
  /** Its position among the calls of its piece. */
  readonly index: number;
  readonly id: string | undefined;
  /** The format allows calls without an id: results are matched by tool name and order. */
  readonly byOrder: boolean;
  readonly name: string;
  readonly raw: RawCall;
  /** Undefined if it cannot be read. */
  readonly asked: ToolCall | undefined;
  readonly origin: CallOrigin | undefined;
}

/** A message or item with calls. */
export interface TurnPiece {
  readonly kind: 'turn';
  readonly at: number;
  readonly value: unknown;
  readonly calls: readonly HistoryCall[];
}

export interface ResultPiece {
  readonly kind: 'result';
  readonly at: number;
  readonly value: unknown;
  readonly id: string | undefined;
  /** The tool's name, if results are identified by it. */
  readonly name: string | undefined;
}

/** Any other element; it is never changed. */
export interface OtherPiece {
  readonly kind: 'other';
  readonly at: number;
  readonly value: unknown;
  /** The speaker: the model, or another role (user, system, tool). */
  readonly by: 'model' | 'others';
  /** A part of a message with results. If absent: a separate message or item. */
  readonly part?: true;
}

export type Piece = TurnPiece | ResultPiece | OtherPiece;

/** A piece of the repaired history. */
export type ArrangedPiece =
  | OtherPiece
  | { readonly kind: 'turn'; readonly at: number; readonly value: unknown }
  | {
      readonly kind: 'result';
      readonly value: unknown;
      /** The message that contains it; undefined for a new one. */
      readonly home: number | undefined;
    }
  /** A result was removed from this message. */
  | { readonly kind: 'gone'; readonly at: number };

/** The calls of one message or item. */
export function readCallsOfTurn(raws: readonly RawCall[], at: number, tools: KnownTools): HistoryCall[] {
  return raws.map((raw, index) => {
    const resolved = resolveCall(raw, index, tools);
    const { origin } = resolved;
    return {
      at,
      index,
      id: idOf(raw.id),
      byOrder: origin?.unnamed === true || origin?.item === 'legacy_function_call',
      name: typeof raw.name === 'string' ? raw.name : '',
      raw,
      asked: resolved.kind === 'call' ? resolved.call : undefined,
      origin,
    };
  });
}

/** An id that can be answered. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `assemble` for formats in which every piece is an element of the list. */
export function listItems(pieces: readonly ArrangedPiece[]): readonly unknown[] {
  return pieces.flatMap((piece) => (piece.kind === 'gone' ? [] : [piece.value]));
}

/** Whether an element has a role or type, as every message and item does. */
export function isMessage(element: unknown): boolean {
  return isRecord(element) && typeof (element.role ?? element.type) === 'string';
}
