import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import { answerReadErrors } from './answer-read-errors.js';
import { readCalls } from './read-calls.js';

function done(callId: string): ToolResult {
  return {
    callId,
    toolName: 'x',
    success: true,
    output: '',
    truncated: false,
    executionTimeMs: 1,
    metadata: {},
  };
}

describe('answerReadErrors()', () => {
  it('answers every malformed call in its place', () => {
    const bad = (id: string) => ({ id, name: 'x' });
    const good = (id: string) => ({ id, name: 'x', args: {} });
    const read = readCalls([bad('a'), good('b'), bad('c'), bad('d'), good('e'), good('f'), bad('g')]);
    const answered = answerReadErrors(
      read.calls.map((call) => done(call.id)),
      read.errors,
    );
    expect(answered.map((result) => result.callId)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(answered[0]).toEqual({
      callId: 'a',
      toolName: 'x',
      success: false,
      output: '',
      error: { code: 'bad_args', message: read.errors[0]?.message, details: { executed: 'no' } },
      truncated: false,
      executionTimeMs: 0,
      metadata: {},
    });
  });

  it('loses no error when results are missing, and adds none', () => {
    const error = { index: 7, id: 'late', message: 'm' };
    expect(answerReadErrors([done('a')], [error]).map((result) => result.callId)).toEqual(['a', 'late']);
    expect(answerReadErrors([done('a')], [])).toEqual([done('a')]);
    expect(answerReadErrors([], [{ index: 0, message: 'm' }])).toMatchObject([
      { callId: 'call_0', toolName: '' },
    ]);
  });
});
