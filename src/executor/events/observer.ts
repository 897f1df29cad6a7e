import type { PlannedCall } from '../../contract/approval.js';
import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { EventStream } from './event-stream.js';

type Named = Pick<ToolCall, 'id' | 'name'>;

/** Turns what happens to calls into events. A batch without a reader has no observer and pays nothing. */
export class Observer {
  readonly #stream: EventStream;
  readonly #clock: Clock;

  constructor(stream: EventStream, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  planned(plan: PlannedCall): void {
    this.#stream.push({
      type: 'planned',
      callId: plan.callId,
      toolName: plan.toolName,
      at: this.#clock.now(),
      plan,
    });
  }

  approvalRequested({ call, summary }: { readonly call: Named; readonly summary: string }): void {
    this.#stream.push({ type: 'approval_requested', ...this.#of(call), summary });
  }

  approvalDecided(call: Named, approved: boolean, reason?: string): void {
    this.#stream.push({
      type: 'approval_decided',
      ...this.#of(call),
      approved,
      ...(reason === undefined ? {} : { reason }),
    });
  }

  started(call: Named): void {
    this.#stream.push({ type: 'started', ...this.#of(call) });
  }

  output(call: Named, type: 'stdout' | 'stderr', chunk: string): void | Promise<void> {
    return this.#stream.pushChunk({ type, ...this.#of(call), chunk });
  }

  completed(call: Named, result: ToolResult): void {
    this.#stream.push({ type: 'completed', ...this.#of(call), result });
  }

  #of(call: Named): { callId: string; toolName: string; at: number } {
    return { callId: call.id, toolName: call.name, at: this.#clock.now() };
  }
}
