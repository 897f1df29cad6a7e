import type { ToolResult } from '../../contract/result.js';

/** Without anything that JSON would escape: it is looked for in JSON. */
const MESSAGE =
  'The outcome of this call is unknown (outcome_unknown): there is no result of it. It may have run, or not. ' +
  'Look at what it would have changed before repeating it.';

/** What is honest to say of a call when nobody has its result. */
export function unknownResult(callId: string, toolName: string): ToolResult {
  return {
    callId,
    toolName,
    success: false,
    output: '',
    error: { code: 'outcome_unknown', message: MESSAGE, details: { executed: 'maybe' } },
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  };
}

/** Whether a result in any format is ours of an earlier repair: a real one is better. */
export function isUnknownResult(written: unknown): boolean {
  return JSON.stringify(written)?.includes(MESSAGE) === true;
}
