import type { ApproveOptions } from '../contract/executor.js';
import type { Worker } from '../contract/journal.js';
import type { EarlierDecision } from '../contract/telemetry.js';
import type { Registry, ToolDefinition } from '../contract/tool.js';
import type { DeferredBatch } from './approve/find-deferred.js';
import type { TakenCall } from './call/batch-scope.js';
import type { Closable } from './closing.js';
import type { ReservedPlace } from './queue.js';

/** The parts of an executor in addition to its settings. */
export interface ExecutorParts {
  /** Shown in mode `parse_only` instead of the registry's, if there are any (D114); sorted by name. */
  readonly definitions: readonly ToolDefinition[];
  /** Checks the rules of the policy against their own examples. Undefined: no rule has one. */
  readonly checkExamples: (() => Promise<void>) | undefined;
  /**
   * The built-in tools plus `task`, if sub-agents are added later. Undefined: the tools were chosen by name.
   */
  readonly agentTools: ((registry: Registry) => Registry) | undefined;
  /** Resources that were opened for this executor only, in closing order. */
  readonly owned: readonly Closable[];
}

/** A batch that already has its id, and its calls if they were recorded before. */
export type Known = Pick<DeferredBatch, 'id'> &
  Partial<Pick<DeferredBatch, 'calls' | 'placement'>> &
  Pick<ApproveOptions, 'shown'> & {
    /** A call of another process that this process takes as a worker. */
    readonly taken?: TakenCall & { readonly worker: Worker };
    /** Its place in the queue of its conversation, if it was reserved. */
    readonly place?: ReservedPlace | undefined;
    /** The decision about the ticket of its call. */
    readonly decision?: EarlierDecision;
  };
