import type { ToolResult } from '../../contract/call.js';
import type { CallOrigin } from '../call-origin.js';
import type { KnownTools } from '../known-tools.js';
import type { ArrangedPiece, Piece, TurnPiece } from './piece.js';

/** What is done to the calls of one piece, by their index: taken out, or given another id. */
export type CallEdits = ReadonlyMap<number, { readonly id: string } | 'drop'>;

/** How conversations look in one format. Pure; values are never changed, only replaced. */
export interface HistoryShape {
  /** Whether an element of the list could be nobody else's. */
  speaks(element: { readonly [key: string]: unknown }): boolean;
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
