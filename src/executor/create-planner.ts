import { openOutputStore } from '../commands/open-output-store.js';
import type { PlannedCall } from '../contract/approval.js';
import type { ToolCall } from '../contract/call.js';
import type { Tool } from '../contract/tool.js';
import { createRegistry } from './declare/registry.js';
import { checkExecutorOptions, type ExecutorOptions } from './executor-options.js';
import { planBatch } from './plan/plan-batch.js';
import { toPlannedCall } from './plan/to-planned-call.js';
import { planningParts } from './planning-parts.js';

export interface Planner {
  /** The decision that an executor with these options would make about a call. */
  plan(call: ToolCall): Promise<PlannedCall>;
}

/**
 * Plans calls of the given tools and can do nothing else: the modules that run and record calls are not
 * loaded.
 * @throws ToolError `config_invalid`, as `createExecutor`
 */
export function createPlanner(options: ExecutorOptions & { readonly tools: readonly Tool[] }): Planner {
  checkExecutorOptions(options);
  const parts = planningParts(options, () => createRegistry([...options.tools]));
  let secretValues: readonly string[] | undefined;
  const settings = {
    ...parts.settings,
    get secretValues() {
      secretValues ??= parts.secretValues();
      return secretValues;
    },
    outputs: openOutputStore(),
    journal: null,
  };
  return {
    async plan(call) {
      await parts.checkExamples?.();
      const [planned] = await planBatch([call], settings);
      if (planned === undefined) throw new Error('a plan of one call has one call');
      return toPlannedCall(planned);
    },
  };
}
