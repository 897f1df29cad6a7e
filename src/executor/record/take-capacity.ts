import type { ToolResult } from '../../contract/result.js';
import { isJsonObjectText } from '../../output/is-json-object-text.js';
import { truncate } from '../../output/truncate.js';
import type { BatchScope } from '../execute/batch-scope.js';
import { isUncut } from './finalize.js';
import { causeOf, rememberCause } from './results.js';

/**
 * Fits a result into what the model's context can still take, and takes it from there: what one result uses, the
 * later ones of the batch no longer have (D031, D079). A failure's message comes before its output.
 */
export function takeCapacity(result: ToolResult, scope: BatchScope): ToolResult {
  if (scope.capacityBytes === Number.POSITIVE_INFINITY) return result;
  const message = result.success
    ? undefined
    : fitText(result.error.message, scope, passesWhole(result) || isUncut(result));
  const output = fitText(result.output, scope, isUncut(result));
  if (!output.truncated && message?.truncated !== true) return result;
  const truncated = { output: output.text, truncated: true };
  const fitted: ToolResult =
    result.success || message === undefined
      ? { ...result, ...truncated }
      : { ...result, ...truncated, error: { ...result.error, message: message.text } };
  rememberCause(fitted, causeOf(result));
  return fitted;
}

function fitText(text: string, scope: BatchScope, whole: boolean): ReturnType<typeof truncate> {
  const fitted = whole ? { text, truncated: false } : truncate(text, scope.capacityBytes);
  scope.capacityBytes = Math.max(0, scope.capacityBytes - Buffer.byteLength(fitted.text));
  return fitted;
}

function passesWhole({ error }: ToolResult): boolean {
  return error?.code === 'execution_failed' && isJsonObjectText(error.message);
}
