import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { exitCodeOf } from './exit-code.js';

function results(...codes: readonly (ErrorCode | undefined)[]): ToolResult[] {
  const common = {
    callId: 'c',
    toolName: 't',
    output: '',
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  };
  return codes.map((code) =>
    code === undefined
      ? { ...common, success: true }
      : { ...common, success: false, error: { code, message: 'why', details: { executed: 'no' } } },
  );
}

describe('exitCodeOf()', () => {
  it.each([
    [0, results(), false],
    [0, results(undefined, undefined), false],
    [1, results(undefined, 'bad_args'), false],
    [1, results('user_denied'), false],
    [3, results('bad_args', 'approval_unavailable'), false],
    [130, results(undefined), true],
    [130, results('approval_unavailable'), true],
  ])('%d', (code, given, interrupted) => {
    expect(exitCodeOf(given, interrupted)).toBe(code);
  });
});
