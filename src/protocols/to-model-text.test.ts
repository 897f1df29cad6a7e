import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import { toModelText } from './to-model-text.js';

const base = { callId: 'c', toolName: 't', truncated: false, executionTimeMs: 1, metadata: {} };

function failure(message: string, output = ''): ToolResult {
  return { ...base, success: false, output, error: { code: 'execution_failed', message } };
}

describe('toModelText()', () => {
  it('is the output, or says that there was none', () => {
    expect(toModelText({ ...base, success: true, output: ' x\n' })).toBe(' x\n');
    expect(toModelText({ ...base, success: true, output: '' })).toBe('(no output)');
  });

  it('is the error, then the kept output after a blank line', () => {
    expect(toModelText(failure('boom'))).toBe('Error: boom');
    expect(toModelText(failure('exit code 1', '2 failing\n'))).toBe('Error: exit code 1\n\n2 failing\n');
  });

  it('is a JSON object alone and untouched', () => {
    const json = ' {"error": {"a" : 1}}\n';
    expect(toModelText(failure(json, 'kept'))).toBe(json);
  });

  it.each(['{broken', '[1]', '"text"', 'null', '42', '{"a":1} and more'])(
    'prefixes %j, which is no JSON object',
    (message) => {
      expect(toModelText(failure(message))).toBe(`Error: ${message}`);
    },
  );
});
