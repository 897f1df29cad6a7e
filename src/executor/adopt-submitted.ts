import type { ToolCall, ToolResult } from '../contract/call.js';
import type { SubmittedResult } from '../contract/executor.js';
import { finalize } from './answer/finalize.js';
import type { BatchScope } from './call/batch-scope.js';
import { fitted } from './record/answers.js';

/**
 * A result that was handed in (D013): to the model and the record it is a tool's output like any, so it is redacted, cut
 * and fitted into what the context can still take.
 */
export function adoptSubmitted(
  call: ToolCall,
  { output, success = true }: SubmittedResult,
  scope: Pick<BatchScope, 'id' | 'settings' | 'capacityBytes'>,
): ToolResult {
  const outcome = { metadata: { submitted: true }, truncatable: true };
  const error = { code: 'execution_failed', message: output, executed: 'maybe' } as const;
  const result = finalize(
    success ? { ...outcome, text: output } : { ...outcome, text: '', error },
    { call, declared: [] },
    scope,
    0,
  );
  return fitted(result, false, scope);
}
