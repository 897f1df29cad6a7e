import type { ToolResult } from '../../contract/call.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import { finalize } from './finalize.js';
import { type Outcome, unusable } from './outcome.js';
import { failure } from './results.js';

/**
 * Turns an outcome into a result even if cleaning fails; in that case no uncleaned text is shown. Never
 * throws.
 * @param broken receives the error that cleaning threw
 */
export function finalizeAnyway(
  outcome: Outcome,
  ready: ReadyCall,
  scope: BatchScope,
  elapsedMs: number,
  broken: (error: unknown) => void,
): ToolResult {
  try {
    return finalize(outcome, ready, scope, elapsedMs);
  } catch (error) {
    broken(error);
  }
  try {
    return finalize(unusable(outcome, ready.tool, new Error('no JSON')), ready, scope, elapsedMs);
  } catch {
    const executed = outcome.error?.executed ?? 'yes';
    const message = `${ready.call.name} ended, and its result could not be read.`;
    return failure(ready.call, outcome.error?.code ?? 'execution_failed', message, executed);
  }
}
