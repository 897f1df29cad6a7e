import type { ErrorCode } from '../errors/catalogue.js';
import type { ToolError } from '../errors/tool-error.js';
import type { JsonSchema } from './json.js';
import type { Tool } from './tool.js';

/** A set of tools that can change while an executor runs. The executor reads it at every call. */
export interface ToolSource {
  /** The current tools. The array is replaced, never changed in place. */
  readonly tools: readonly Tool[];
  /** Increases with every change of `tools`. */
  readonly revision: number;
  /** Explains why a tool is missing, if the source knows the reason. */
  whyMissing?(name: string): ToolError | undefined;
  /**
   * Calls back after each change of `tools`, so that connected clients hear of it. Returns the function that removes the
   * callback.
   */
  onChange?(listener: () => void): () => void;
}

/**
 * `ready`: the program starts and describes itself with valid schemas. `schema-unknown`: it starts but gave
 * no usable schema; it accepts any object, and its effects are unknown. `error`: it cannot start, or must
 * not.
 */
export type ExternalToolStatus = 'ready' | 'schema-unknown' | 'error';

/** A program in a tools directory, as of the last look. A copy: changing it has no effect. */
export interface ExternalToolInfo {
  /** The file name, which is the tool's name for a model. */
  readonly name: string;
  /** The version that the program reports; empty if it reports none. */
  readonly version: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly status: ExternalToolStatus;
  /** An absolute path. */
  readonly path: string;
  /** Why it is not `ready`. */
  readonly errorMessage?: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Whether the executor trusts the effects that the program declares. */
  readonly trusted: boolean;
  /** The parts of its description that have changed since it was approved. Absent if none have. */
  readonly changed?: readonly ExternalToolChange[];
  readonly metrics: ExternalToolMetrics;
  readonly circuit: ExternalToolCircuit;
}

/**
 * The circuit breaker of a tool. `open`: it failed too often, and calls are refused until `retryAt` (ISO
 * 8601, UTC). `half-open`: that time has passed, and the next call is a trial.
 */
export interface ExternalToolCircuit {
  readonly state: 'closed' | 'open' | 'half-open';
  readonly retryAt?: string;
}

/** The trace context of the surrounding span, in W3C format. */
export interface TraceContext {
  /** `00-<32 hexadecimal digits>-<16>-<2>`. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The span of one call of an external tool. */
export interface ExternalSpan extends TraceContext {
  /** Ends the span. @param outcome `code` is left out for a success. */
  end?(outcome: { readonly durationMs: number; readonly code?: ErrorCode }): void;
}

export type ExternalToolChange = 'description' | 'input schema' | 'output schema' | 'effects';

/** Metrics of one tool since the service was opened. Durations are in milliseconds. */
export interface ExternalToolMetrics {
  /** The number of attempts. */
  readonly totalExecutions: number;
  readonly successfulExecutions: number;
  readonly failedExecutions: number;
  readonly totalDurationMs: number;
  readonly averageDurationMs: number;
  /** Start of the last attempt: ISO 8601, UTC; null if there was none. */
  readonly lastExecutedAt: string | null;
  /** Over the last 1,000 attempts; null if there were none. */
  readonly percentilesMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
  /** The number of failed attempts by error code. */
  readonly failures: Readonly<Partial<Record<ErrorCode, number>>>;
}

/** The result of a look at the directories, by tool name. */
export interface ExternalToolsReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** The programs in one or more directories, as tools. */
export interface ExternalTools extends ToolSource, Iterable<Tool>, AsyncDisposable {
  /** Every program that was found, with any status, sorted by name. */
  list(): readonly ExternalToolInfo[];
  /** @throws ToolError `unknown_tool`; `schema_fetch_failed` for a tool that gave no schema. */
  schema(name: string): { readonly inputSchema: JsonSchema; readonly outputSchema?: JsonSchema };
  /** Reads the directories again. Running calls continue with the program they started. Metrics are kept. */
  refresh(): Promise<ExternalToolsReport>;
  /**
   * Accepts the current description of a tool: later changes are reported against it.
   * @param name default: all tools.
   * @throws ToolError `unknown_tool`.
   */
  approve(name?: string): void;
  /** Ends all running programs and their child processes, and stops watching. */
  close(): Promise<void>;
}
