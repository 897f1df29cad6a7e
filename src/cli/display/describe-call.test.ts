import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { cut, describeDuration, describeName, describeResult } from './describe-call.js';
import { createPalette } from './terminal-text.js';

const PLAIN = createPalette(false, {});
const OK: ToolResult = {
  callId: 'c1',
  toolName: 'read_file',
  success: true,
  output: '',
  truncated: false,
  executionTimeMs: 12,
  metadata: {},
};

function failed(executed: string, message = 'why', code: 'timeout' | 'cancelled' = 'timeout'): ToolResult {
  return { ...OK, success: false, error: { code, message, details: { executed } } };
}

describe('describeResult()', () => {
  it.each<[string, ToolResult]>([
    ['✓ read_file (c1) 12 ms', OK],
    ['✓ read_file (c1) 12 ms (from the journal)', { ...OK, metadata: { replayed: true } }],
    ['✗ read_file (c1) 12 ms timeout: why', failed('maybe')],
    ['✗ read_file (c1) 12 ms timeout: why', failed('yes')],
    ['⊘ read_file (c1) timeout: why', { ...failed('no'), executionTimeMs: 0 }],
    ['✗ read_file (c1) 12 ms timeout: why (none of it was kept)', failed('no')],
    ['✗ read_file (c1) 12 ms ran, cancelled: why', failed('maybe', 'why', 'cancelled')],
    ['✗ read_file (c1) 12 ms ran, cancelled: why (none of it was kept)', failed('no', 'why', 'cancelled')],
    ['✓ (no name) (no id) 12 ms', { ...OK, toolName: '', callId: '' }],
  ])('says %s', (line, result) => {
    expect(describeResult(result, PLAIN)).toBe(line);
  });

  it('stays on one line, whatever names and messages hold', () => {
    const evil = '\n\u001b[2J\u202e\r';
    const line = describeResult(
      { ...failed('no', `a${evil}b`), toolName: `n${evil}`, callId: 'x'.repeat(500) },
      PLAIN,
    );
    expect(line).not.toMatch(/[\n\r\u001b\u202e]/);
    expect(line.length).toBeLessThan(250);
  });
});

describe('describeName()', () => {
  it('quotes an id that holds more than ids do', () => {
    expect(describeName({ toolName: 'bash', callId: 'a) ok' })).toBe('bash ("a) ok")');
    expect(describeName({ toolName: 'bash', callId: 'toolu_01-x' })).toBe('bash (toolu_01-x)');
  });
});

describe('describeDuration()', () => {
  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [1000, '1.0 s'],
    [59_900, '59.9 s'],
    [60_000, '1 min 00 s'],
    [185_000, '3 min 05 s'],
  ])('%d is %s', (ms, text) => {
    expect(describeDuration(ms)).toBe(text);
  });
});

describe('cut()', () => {
  it('never splits a character', () => {
    expect(cut('👋👋👋', 3)).toBe('👋👋👋');
    expect(cut('👋👋👋👋', 3)).toBe('👋👋…');
  });
});
