import type { ContainedFiles } from './files.js';
import type { Logger } from './logger.js';
import type { ToolProcesses } from './processes.js';
import type { ToolSearch } from './search.js';

/** Values that tools keep for one conversation (what was read, todo lists). In memory; keys are the tool's own. */
export type ConversationMemory = Map<string, unknown>;

export interface ContextLimits {
  readonly maxOutputBytes: number;
  /** Of pictures, sounds and documents in one result. */
  readonly maxContentBytes: number;
  readonly availableCapacityBytes: number;
  readonly maxApplyPatchBytes: number;
  readonly maxFileReadBytes: number;
  readonly maxReadFileScanBytes: number;
}

/**
 * All the world a tool may use, made anew for each call (FR-REG-04a). The handles give out what the call's effects
 * declare and nothing else (`sandbox_violation`), and die when the call is answered.
 */
export interface ToolContext {
  readonly callId: string;
  /** Aborts on cancellation and timeout. A tool that goes on afterwards is answered for, and touches nothing. */
  readonly signal: AbortSignal;
  /** Absolute: the sandbox's working directory. */
  readonly cwd: string;
  readonly files: ContainedFiles;
  readonly search: ToolSearch;
  readonly processes: ToolProcesses;
  readonly memory: ConversationMemory;
  /** Shows output while it is produced. Await it to go no faster than the reader. */
  emit(text: string, stream?: 'stdout' | 'stderr'): void | Promise<void>;
  readonly limits: ContextLimits;
  readonly dryRun: boolean;
  /** Stable over repeated delivery of the same call: hand it to services that know idempotency keys. */
  readonly idempotencyKey: string;
  readonly logger: Logger;
}
