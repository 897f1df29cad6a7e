import type { PlannedCall } from './plan.js';
import type { ToolResult } from './result.js';

interface EventBase {
  readonly callId: string;
  readonly toolName: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * In this order for every call: planned, approval_requested, approval_decided, started, stdout/stderr/progress,
 * completed. A pre-resolved call has `planned` and `completed`.
 */
export type ToolEvent =
  | (EventBase & { readonly type: 'planned'; readonly plan: PlannedCall })
  | (EventBase & { readonly type: 'approval_requested'; readonly summary: string })
  | (EventBase & { readonly type: 'approval_decided'; readonly approved: boolean; readonly reason?: string })
  | (EventBase & { readonly type: 'started' })
  | (EventBase & { readonly type: 'stdout' | 'stderr'; readonly chunk: string })
  | (EventBase & { readonly type: 'progress'; readonly message: string })
  | (EventBase & { readonly type: 'completed'; readonly result: ToolResult });
