import { describe, expect, it } from 'vitest';
import { createPolicy } from '../create-policy.js';

/** A call after text from outside whose content was dropped from the conversation. */
function decide(
  options: Parameters<typeof createPolicy>[0],
  access: 'read' | 'write' = 'write',
  isForgotten = true,
) {
  return createPolicy({ mode: 'auto', allowlist: [], ...options }).decide({
    name: 'send_mail',
    sideEffecting: access === 'write',
    requiresApproval: false,
    effects: [{ kind: 'call', server: 'mail', tool: 'send_mail', access }],
    args: { to: 'ada@corp.example' },
    origins: { seen: ['mcp:mail'], args: {}, places: {}, ...(isForgotten ? { isForgotten } : {}) },
  });
}

describe('a call whose conversation has lost its texts', () => {
  it('is asked about if it changes something outside, because they may hold its arguments', () => {
    expect(decide({})).toMatchObject({
      disposition: 'requires_confirmation',
      reason: expect.stringContaining('are not known any more, after text from mcp:mail was seen'),
    });
    expect(decide({}, 'read').disposition).toBe('execute_now');
    expect(decide({}, 'write', false).disposition).toBe('execute_now');
    expect(decide({ provenance: 'off' }).disposition).toBe('execute_now');
  });

  it('is refused by a rule about where an argument comes from, and allowed by none', () => {
    const args_from = { '/to': 'mcp:*' };
    expect(decide({ rules: [{ decision: 'deny', tool: 'send_mail', args_from }] })).toMatchObject({
      disposition: 'pre_resolved',
      code: 'policy_denied',
    });
    const other = { '/to': 'web:*' };
    expect(decide({ rules: [{ decision: 'deny', tool: 'send_mail', args_from: other }] }).disposition).toBe(
      'requires_confirmation',
    );
    expect(decide({ rules: [{ decision: 'allow', tool: 'send_mail', args_from }] }).disposition).toBe(
      'requires_confirmation',
    );
  });
});
