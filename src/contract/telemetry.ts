import type { PlannedCall } from './approval.js';
import type { ToolResult } from './call.js';

/** Headers of W3C Trace Context: they tie a call to the trace of the program that asked for it. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface TracedBatch {
  readonly id: string;
  readonly conversation: string;
  /** From a request. If absent: the caller's active span. */
  readonly parent?: TraceContext;
}

export interface TracedCall extends Pick<PlannedCall, 'callId' | 'toolName' | 'risk' | 'disposition'> {
  /** Of the tool. If absent: there is no such tool. */
  readonly description?: string;
  /** The arguments as JSON, without known secrets and without what the journal leaves out. */
  readonly args: () => string;
}

/** When a person was asked and decided, in milliseconds since the epoch. */
export interface EarlierDecision {
  readonly askedAt: number;
  readonly decidedAt: number;
}

/** Spans and metrics of calls. Whatever it throws is ignored: it cannot change a call. */
export interface Telemetry {
  /** A batch has arrived. Called in the asynchronous context of its caller. */
  batch(batch: TracedBatch): BatchTrace;
}

export interface BatchTrace {
  planned(call: TracedCall): void;
  /** @param earlier the decision was given before this batch: with a ticket */
  approvalRequested(callId: string, earlier?: EarlierDecision): void;
  approvalDecided(callId: string, approved: boolean): void;
  /** @returns runs the tool so that its own spans are children of the call's */
  started(callId: string): <T>(run: () => T) => T;
  completed(callId: string, result: ToolResult): void;
  /** Headers for requests and programs of the call, with names in lower case. */
  headers(callId: string): Readonly<Record<string, string>>;
}
