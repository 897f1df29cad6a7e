import type { PlannedCall } from '../../contract/approval.js';
import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { BatchTrace, EarlierDecision, TracedCall } from '../../contract/telemetry.js';
import type { EventStream } from './event-stream.js';

type Named = Pick<ToolCall, 'id' | 'name'>;

interface Planned {
  plan(): PlannedCall;
  traced(): TracedCall;
}

/**
 * Reports the progress of calls: as events, if the batch has a reader, and to the batch's trace. A batch with
 * neither has no observer and no cost. If a trace throws, no call changes.
 */
export class Observer {
  readonly #stream: EventStream | undefined;
  readonly #clock: Clock;
  /** Set before the batch begins. */
  trace: BatchTrace | undefined = undefined;

  constructor(stream: EventStream | undefined, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** Whether the events have a reader. */
  get isRead(): boolean {
    return this.#stream !== undefined;
  }

  /** Each of the two is computed only if its receiver exists. */
  planned(call: Named, { plan, traced }: Planned): void {
    this.#stream?.push({ type: 'planned', ...this.#of(call), plan: plan() });
    this.#report((trace) => trace.planned(traced()));
  }

  approvalRequested(
    { call, summary }: { readonly call: Named; readonly summary: string },
    earlier?: EarlierDecision,
  ): void {
    this.#stream?.push({ type: 'approval_requested', ...this.#of(call), summary });
    this.#report((trace) => trace.approvalRequested(call.id, earlier));
  }

  approvalDecided(call: Named, approved: boolean, reason?: string): void {
    this.#stream?.push({
      type: 'approval_decided',
      ...this.#of(call),
      approved,
      ...(reason === undefined ? {} : { reason }),
    });
    this.#report((trace) => trace.approvalDecided(call.id, approved));
  }

  started(call: Named): void {
    this.#stream?.push({ type: 'started', ...this.#of(call) });
  }

  /** Runs the call inside its trace. */
  running<T>({ id }: Named, run: () => T): T {
    let enter: ReturnType<BatchTrace['started']> | undefined;
    this.#report((trace) => {
      enter = trace.started(id);
    });
    return enter === undefined ? run() : enter(run);
  }

  output(call: Named, type: 'stdout' | 'stderr', chunk: string): void | Promise<void> {
    return this.#stream?.pushChunk({ type, ...this.#of(call), chunk });
  }

  completed(call: Named, result: ToolResult): void {
    this.#stream?.push({ type: 'completed', ...this.#of(call), result });
    this.#report((trace) => trace.completed(call.id, result));
  }

  /** W3C trace headers for the requests and processes that the call starts. */
  headers({ id }: Named): Readonly<Record<string, string>> {
    let headers = {};
    this.#report((trace) => {
      headers = trace.headers(id);
    });
    return headers;
  }

  #report(report: (trace: BatchTrace) => void): void {
    if (this.trace === undefined) return;
    try {
      report(this.trace);
    } catch {
      // Spans and metrics are lost, but the call continues.
    }
  }

  #of(call: Named): { callId: string; toolName: string; at: number } {
    return { callId: call.id, toolName: call.name, at: this.#clock.now() };
  }
}
