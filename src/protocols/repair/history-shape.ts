import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { CallOrigin } from '../call-origin.js';
import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import { resolveCall } from '../resolve-call.js';
import { type Fields, isRecord } from '../unknown-value.js';

/** What is done to the calls of one piece, by their index: taken out, or given another id. */
export type CallEdits = ReadonlyMap<number, { readonly id: string } | 'drop'>;

/** How conversations look in one format. Pure; values are never changed, only replaced. */
export interface HistoryShape {
  /** The key of a request's body that holds the list. Left out: the list stands alone. */
  readonly bodyKey?: string;
  /** One text or one content may stand there in place of a list; it holds no calls. */
  readonly maySpeakAlone?: true;
  /** Whether a list, in which no element shows its format, may be of this one. A list that stands alone has an empty body. */
  mayBe(list: readonly unknown[], body: Fields): boolean;
  /** Whether the server holds what was before: a result may answer a call that is not in the list. */
  continues?(list: readonly unknown[], body: Fields): boolean;
  /** Whether an element of the list shows that it is of this format and no other. */
  speaks(element: Fields): boolean;
  read(list: readonly unknown[], tools: KnownTools): readonly Piece[];
  /**
   * How results stand. `items`: for themselves, after the calls and whatever else the model wrote. `messages`: for
   * themselves, right after the message of their calls. `parts`: all in one message, right after that of their calls.
   */
  readonly results: 'items' | 'messages' | 'parts';
  /** The piece with its calls changed; undefined when nothing is left that may stand alone. */
  rewrite(turn: TurnPiece, edits: CallEdits): unknown;
  rename(result: unknown, id: string): unknown;
  write(result: ToolResult, origin: CallOrigin | undefined): unknown;
  /** The list that the pieces make; what did not change is the element it was. */
  assemble(pieces: readonly ArrangedPiece[], list: readonly unknown[]): readonly unknown[];
}

/** A call as it stands in a history. */
export interface HistoryCall {
  /** The index of its message or item. */
  readonly at: number;
  /** Its place among the calls of its piece. */
  readonly index: number;
  readonly id: string | undefined;
  /** The format lets it do without an id: its result is known by the tool's name and by the order. */
  readonly byOrder: boolean;
  readonly name: string;
  readonly raw: RawCall;
  /** Left out when it cannot be read. */
  readonly asked: ToolCall | undefined;
  readonly origin: CallOrigin | undefined;
}

/** A message, or an item, that holds calls. */
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
  /** The tool's, where results are told apart by it. */
  readonly name: string | undefined;
}

/** Whatever is neither; it is never changed. */
export interface OtherPiece {
  readonly kind: 'other';
  readonly at: number;
  readonly value: unknown;
  /** Who speaks: the model, or another role (user, system, tool). */
  readonly by: 'model' | 'others';
  /** A part of a message that holds results too. Left out: a message or an item of its own. */
  readonly part?: true;
}

export type Piece = TurnPiece | ResultPiece | OtherPiece;

/** A piece of the mended history. */
export type ArrangedPiece =
  | OtherPiece
  | { readonly kind: 'turn'; readonly at: number; readonly value: unknown }
  | {
      readonly kind: 'result';
      readonly value: unknown;
      /** The message it stands in and stays in; undefined for one that is new there. */
      readonly home: number | undefined;
    }
  /** A result stood here, in this message. */
  | { readonly kind: 'gone'; readonly at: number };

/** The calls of one message or item, as the reader of its format gives them. */
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

/** What can be answered to. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `assemble` of formats in which every piece is an element of the list. */
export function listItems(pieces: readonly ArrangedPiece[]): readonly unknown[] {
  return pieces.flatMap((piece) => (piece.kind === 'gone' ? [] : [piece.value]));
}

/** Whether an element says what it is, as every message and item does. */
export function isMessage(element: unknown): boolean {
  return isRecord(element) && typeof (element.role ?? element.type) === 'string';
}
