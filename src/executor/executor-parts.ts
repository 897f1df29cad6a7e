import type { ApproveOptions } from '../contract/executor.js';
import type { Registry, ToolDefinition } from '../contract/tool.js';
import type { DeferredBatch } from './approve/find-deferred.js';
import type { Closable } from './closing.js';

/** What an executor is given beside its settings. */
export interface ExecutorParts {
  /** Shown in mode `parse_only` instead of the registry's, where there are any (D114); sorted by name. */
  readonly definitions: readonly ToolDefinition[];
  /** Holds the rules of the policy against their own examples. Undefined: no rule has one. */
  readonly checkExamples: (() => Promise<void>) | undefined;
  /** The built-in tools with `task`, for when sub-agents come later. Undefined: the tools were chosen by name. */
  readonly agentTools: ((registry: Registry) => Registry) | undefined;
  /** What was opened for this executor alone, in the order in which it is closed. */
  readonly owned: readonly Closable[];
}

/** A batch that has its id already, and its calls where they were recorded before. */
export type Known = Pick<DeferredBatch, 'id'> &
  Partial<Pick<DeferredBatch, 'calls'>> &
  Pick<ApproveOptions, 'shown'>;
