import { describe, expect, it } from 'vitest';
import { isToolError } from '../../errors/tool-error.js';
import { LATER_CODE_PATTERNS } from '../later-code/later-code.js';
import { normalizePolicyOptions } from './policy-options.js';

describe('normalizePolicyOptions()', () => {
  it('fills in the defaults (contract: Defaults that shape everything)', () => {
    expect(normalizePolicyOptions({})).toEqual({
      enabled: true,
      mode: 'prompt',
      allowlist: ['read_file'],
      denylist: ['run_command'],
      promptSideEffects: true,
      rules: [],
      laterCode: LATER_CODE_PATTERNS,
      provenance: 'warn',
      projectMayAllow: false,
    });
  });

  it('takes undefined for left out', () => {
    expect(normalizePolicyOptions({ mode: undefined, denylist: undefined }).denylist).toEqual([
      'run_command',
    ]);
  });

  it.each([
    [{ Mode: 'auto' }, 'Unknown policy option "Mode". Did you mean "mode"?'],
    [{ prompt_side_effects: true }, 'Did you mean "promptSideEffects"?'],
    [{ rule: [] }, 'Did you mean "rules"?'],
    [{ rules: {} }, 'Policy option rules is {}: expected an array of rules.'],
    [{ tiers: [] }, 'Policy option tiers is []'],
    [{ tiers: { admin: [] } }, 'Policy option tiers has "admin"'],
    [{ projectMayAllow: 'yes' }, 'Policy option projectMayAllow is "yes"'],
    [{ constructor: 1 }, 'Unknown policy option "constructor"'],
    [{ mode: 'AUTO' }, 'Policy option mode is "AUTO": expected "auto", "prompt" or "deny".'],
    [{ mode: null }, 'Policy option mode is null'],
    [{ enabled: 'false' }, 'Policy option enabled is "false": expected true or false.'],
    [{ promptSideEffects: 1 }, 'Policy option promptSideEffects is 1'],
    [{ denylist: 'bash' }, 'Policy option denylist is "bash": expected an array of tool names.'],
    [{ denylist: ['run command'] }, 'Policy option denylist names "run command"'],
    [{ allowlist: ['*'] }, 'Policy option allowlist names "*"'],
    [{ allowlist: [null] }, 'Policy option allowlist names null'],
    [{ allowlist: [''] }, 'Policy option allowlist names ""'],
    [null, 'Cannot create a policy from null'],
    [[], 'Cannot create a policy from '],
    ['auto', 'Cannot create a policy from "auto"'],
  ])('refuses %j', (options, message) => {
    const error = catchError(() => normalizePolicyOptions(options));
    expect(isToolError(error, 'config_invalid')).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
