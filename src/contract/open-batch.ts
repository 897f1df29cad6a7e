import type { ApprovalRequest } from './approval.js';
import type { ToolResult } from './call.js';
import type { CallState } from './journal.js';

/** A batch that an earlier process left unfinished, after recovery. */
export interface RecoveredBatch {
  readonly batchId: string;
  readonly conversation: string;
  /** Its conversation waits for a decision about it. */
  readonly waits: boolean;
  /** The reason for the wait: a decision about unfinished calls (`decide`), or approval (`approve`). */
  readonly waitsFor?: 'recovery' | 'approval';
  /** All calls of the batch in order. Calls that have ended include their result. */
  readonly calls: readonly RecoveredCall[];
}

export interface RecoveredCall {
  readonly callId: string;
  readonly toolName: string;
  readonly state: CallState;
  readonly result?: ToolResult;
}

/** A batch that waits for approval, with its questions. */
export interface WaitingBatch {
  /** For `approve` and `decide`. They also accept any unique prefix of at least 8 characters. */
  readonly batchId: string;
  readonly conversation: string;
  /** The time it was deferred: ISO 8601, UTC. */
  readonly since: string;
  /** One request for each call without a result, in call order. */
  readonly requests: readonly ApprovalRequest[];
  /** Present for a question of `ask`: `decide` takes it, and the program that asked runs the call. */
  readonly ticket?: string;
}
