import { isWaitingAnswer } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';

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

/**
 * Whether a result in any format is ours and not its last word: of an earlier repair, or of a call that waited for
 * approval. A real one is better.
 */
export function isOpenResult(written: unknown): boolean {
  return says(written, DEEPEST);
}

/** No format writes it further down. */
const DEEPEST = 4;

function says(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isOurs(value.replace(/^Error: /, ''));
  if (typeof value !== 'object' || value === null) return false;
  return depth > 0 && Object.values(value).some((member) => says(member, depth - 1));
}

/** As every format writes it: alone, or as the text of a failure. One that only quotes it is somebody's own. */
function isOurs(text: string): boolean {
  return text === MESSAGE || isWaitingAnswer(text);
}
