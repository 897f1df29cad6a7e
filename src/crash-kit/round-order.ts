import type { ToolCall, ToolResult } from '../contract/call.js';
import type { CallKey } from '../contract/journal.js';

/** What a process under trial is told to do. */
export interface RoundOrder {
  /** A `file:` URL. */
  readonly tools: string;
  readonly calls: readonly ToolCall[];
  readonly root: string;
  readonly journal: string;
  readonly conversation: string;
  readonly parallel: boolean;
  /** A file: what the journal has acknowledged goes there, one JSON object a line, before anybody hears of it. */
  readonly log: string;
  /** The step of the journal to die at, from 1 on. */
  readonly die?: { readonly step: number; readonly when: 'before' | 'after' };
  readonly unfenced: boolean;
}

/** What the journal has said to be on the disk. */
export type Acknowledged =
  | { readonly op: 'accept'; readonly keys: readonly CallKey[] }
  | { readonly op: 'claim' | 'note'; readonly key: CallKey }
  | { readonly op: 'finish'; readonly key: CallKey; readonly result: ToolResult }
  | { readonly op: 'keep'; readonly hash: string }
  | { readonly op: 'other' };

/** What a process under trial says: that the batch begins, and what it was like, if it lives to the end. */
export type RoundNews =
  | { readonly kind: 'begins' }
  | { readonly kind: 'ended'; readonly steps: readonly string[]; readonly durationMs: number };
