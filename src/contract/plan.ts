import type { Effect, Risk } from './effect.js';
import type { ToolResult } from './result.js';

export type Disposition = 'execute_now' | 'requires_confirmation' | 'pre_resolved';

/** What would happen to one call (FR-APR-02). */
export interface PlannedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly disposition: Disposition;
  readonly effects: readonly Effect[];
  readonly risk: Risk;
  /** For people: redacted, one line, at most 200 characters. */
  readonly summary: string;
  /** Why this disposition. */
  readonly reason: string;
  /** The answer, when the call is `pre_resolved`. */
  readonly result?: ToolResult;
}

export interface Plan {
  readonly calls: readonly PlannedCall[];
}
