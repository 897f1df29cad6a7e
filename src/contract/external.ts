import type { ErrorCode } from '../errors/catalogue.js';
import type { ToolError } from '../errors/tool-error.js';
import type { JsonSchema } from './json.js';
import type { Tool } from './tool.js';

/** Tools that come and go while an executor lives: it asks for them at every call. */
export interface ToolSource {
  /** As they are now: replaced as a whole, never changed in place. */
  readonly tools: readonly Tool[];
  /** Grows with every change of `tools`. */
  readonly revision: number;
  /** Why there is no tool of that name, where the source knows more than that. */
  whyMissing?(name: string): ToolError | undefined;
}

/**
 * `ready`: it runs, and describes itself with valid schemas. `schema-unknown`: it runs, but gave no usable schema; it can be
 * called with any object, and its effects are unknown. `error`: it cannot be started, or must not be.
 */
export type ExternalToolStatus = 'ready' | 'schema-unknown' | 'error';

/** A program of a tools directory, as it was when it was last looked at. A copy: changing it changes nothing. */
export interface ExternalToolInfo {
  /** Its file's name, which is what a model calls. */
  readonly name: string;
  /** What it says of itself; empty where it says nothing. */
  readonly version: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly status: ExternalToolStatus;
  /** Absolute. */
  readonly path: string;
  /** Why it is not `ready`. */
  readonly errorMessage?: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Whether the effects that it declares are believed. */
  readonly trusted: boolean;
  /** What of its description has changed since it was approved; left out: nothing. */
  readonly changed?: readonly ExternalToolChange[];
  readonly metrics: ExternalToolMetrics;
  readonly circuit: ExternalToolCircuit;
}

/**
 * Whether calls of a tool are let through. `open`: it failed too often, and is left alone until `retryAt` (ISO 8601, UTC).
 * `half-open`: that time has come, and one call shows whether it works again.
 */
export interface ExternalToolCircuit {
  readonly state: 'closed' | 'open' | 'half-open';
  readonly retryAt?: string;
}

/** Of the span that a call is part of, as W3C Trace Context writes it. */
export interface TraceContext {
  /** `00-<32 hexadecimal digits>-<16>-<2>`. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Begun when a call of an external tool begins. */
export interface ExternalSpan extends TraceContext {
  /** The call has ended. @param outcome `code` is left out where it succeeded. */
  end?(outcome: { readonly durationMs: number; readonly code?: ErrorCode }): void;
}

export type ExternalToolChange = 'description' | 'input schema' | 'output schema' | 'effects';

/** Of one tool, since the service was opened. Milliseconds. */
export interface ExternalToolMetrics {
  /** Attempts. */
  readonly totalExecutions: number;
  readonly successfulExecutions: number;
  readonly failedExecutions: number;
  readonly totalDurationMs: number;
  readonly averageDurationMs: number;
  /** When the last attempt began: ISO 8601, UTC; null: never. */
  readonly lastExecutedAt: string | null;
  /** Of the last 1,000 attempts; null where there are none. */
  readonly percentilesMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
  /** How many attempts failed with which code. */
  readonly failures: Readonly<Partial<Record<ErrorCode, number>>>;
}

/** What a look at the directories has found, by name. */
export interface ExternalToolsReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** The programs of some directories, as tools. */
export interface ExternalTools extends ToolSource, Iterable<Tool>, AsyncDisposable {
  /** Every program that was found, whatever its status, by name. */
  list(): readonly ExternalToolInfo[];
  /** @throws ToolError `unknown_tool`; `schema_fetch_failed` for a tool that gave none. */
  schema(name: string): { readonly inputSchema: JsonSchema; readonly outputSchema?: JsonSchema };
  /** Looks at the directories again. What runs goes on with the program that it began with. Metrics stay. */
  refresh(): Promise<ExternalToolsReport>;
  /**
   * The description of a tool is as it shall be: from now on changes are told against this one.
   * @param name left out: of all tools.
   * @throws ToolError `unknown_tool`.
   */
  approve(name?: string): void;
  /** Ends what runs, with everything it has started, and watches no more. */
  close(): Promise<void>;
}
