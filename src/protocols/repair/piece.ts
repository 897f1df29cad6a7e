import type { ToolCall } from '../../contract/call.js';
import type { CallOrigin } from '../call-origin.js';
import type { RawCall } from '../raw-call.js';

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
  /** Who speaks: the model, or somebody that answers it. */
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
