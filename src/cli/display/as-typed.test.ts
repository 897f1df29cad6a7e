import { describe, expect, it } from 'vitest';
import { asTyped } from './as-typed.js';

describe('asTyped()', () => {
  it.each([
    ['The limit is limits.maxToolCallsPerBatch.', 'The limit is tools.max_tool_calls_per_batch.'],
    ['Set policy.enabled to true.', 'Set tools.approval.enabled to true.'],
    ['options.root must name at least one directory.', '--root must name at least one directory.'],
    ['options.policy.allowlist must be a list', 'tools.approval.allowlist must be a list'],
    ['There is no key for X: set X_KEY, or give the option apiKey.', 'There is no key for X: set X_KEY.'],
    [
      'The network is off: set sandbox.network to true.',
      'The network is off: set tools.run_command.network to true.',
    ],
    ['options.mode is disabled: set it to enabled.', 'tools.mode is disabled: set it to enabled.'],
    ['preview new ones, or these with options.again.', 'preview new ones, or these with --again.'],
    [
      'Decide with "toolexec approve b-1", in a program with executor.approve().',
      'Decide with "toolexec approve b-1".',
    ],
    ['file not found: src/a.b.ts', 'file not found: src/a.b.ts'],
  ])('turns %j into %j', (said, typed) => {
    expect(asTyped(said)).toBe(typed);
  });
});
