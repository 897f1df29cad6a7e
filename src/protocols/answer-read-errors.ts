import type { ToolResult } from '../contract/call.js';
import type { ReadError } from './read-error.js';

/**
 * One result per call that the model asked for: `results` belong to the readable calls, in order, and each error is
 * answered in its place with `bad_args`.
 */
export function answerReadErrors(
  results: readonly ToolResult[],
  errors: readonly ReadError[],
): readonly ToolResult[] {
  const unplaced = new Map(errors.map((error) => [error.index, toResult(error)]));
  const answered: ToolResult[] = [];
  const placeErrors = () => {
    for (let at = answered.length; ; at++) {
      const result = unplaced.get(at);
      if (result === undefined) return;
      unplaced.delete(at);
      answered.push(result);
    }
  };
  for (const result of results) {
    placeErrors();
    answered.push(result);
  }
  placeErrors();
  return [...answered, ...unplaced.values()];
}

function toResult({ index, id, name, message }: ReadError): ToolResult {
  return {
    callId: id ?? `call_${index}`,
    toolName: name ?? '',
    success: false,
    output: '',
    error: { code: 'bad_args', message, details: { executed: 'no' } },
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  };
}
