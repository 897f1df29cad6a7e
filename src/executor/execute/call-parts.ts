import type { FileIntent } from '../../contract/files.js';
import type { JsonObject } from '../../contract/json.js';
import type { ToolResult } from '../../contract/result.js';
import type { ReadyCall } from '../plan/judged-call.js';
import type { BatchScope } from './batch-scope.js';
import type { Timed } from './deadlines.js';

/** What one run of a call is made of. */
export interface CallParts {
  readonly ready: ReadyCall;
  /** Its place in the batch. */
  readonly index: number;
  readonly scope: BatchScope;
  readonly timeoutMs: number;
  readonly owner: CallOwner;
}

/** Who has started a call: one object for a batch, because closures for every call cost more than the call. */
export interface CallOwner {
  idempotencyKey(parts: CallParts): string;
  /** Resolves when it is recorded what the call will replace. Undefined: nothing of this batch is recorded. */
  intend: ((parts: CallParts, intent: FileIntent) => Promise<void>) | undefined;
  /** Records a process that the call has started, or how it ended. Nobody waits for it. */
  noteProcess(parts: CallParts, data: JsonObject): void;
  /** Told once, when the call has its answer; where `start` gave it at once, nobody takes it here. */
  ended(run: Timed, parts: CallParts, late: ToolResult | undefined): void;
  /** Told what a tool handed in after its call was answered. */
  late(parts: CallParts, result: ToolResult): void;
}
