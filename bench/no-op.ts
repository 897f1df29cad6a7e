import type { ToolResult } from '../src/contract/call.js';
import { toolexec } from './built.js';
import { NO_OP_ARGS, NO_OP_INPUT } from './no-op-input.js';

/** A tool that touches nothing. */
export function noOpTool() {
  return toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing.',
    input: NO_OP_INPUT,
    effects: () => [],
    execute: async ({ message }) => message,
  });
}

/** A tool with unknown effects: its calls must be claimed before they run. */
export function opaqueTool() {
  return toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing, and does not say so.',
    input: NO_OP_INPUT,
    execute: async ({ message }) => message,
  });
}

/** @param round tells apart the ids of calls that one conversation gets more than once. */
export function noOpCalls(count: number, round = '') {
  return Array.from({ length: count }, (_, index) => ({
    id: `call_${round}${index}`,
    name: 'noop',
    args: NO_OP_ARGS,
  }));
}

/** @throws if a result of the batch is not the expected one */
export function checkResults(results: readonly ToolResult[], size: number): void {
  if (results.length !== size) throw new Error(`${results.length} results of ${size} calls`);
  for (const { success, output } of results) {
    if (!success || output !== NO_OP_ARGS.message) throw new Error(`wrong answer: ${output}`);
  }
}
