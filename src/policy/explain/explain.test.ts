import { describe, expect, it } from 'vitest';
import { createPolicy } from '../create-policy.js';
import { bash, question } from '../fixtures/ask.js';
import { simpleAnalysis } from '../fixtures/simple-analysis.js';
import type { PolicyOptions } from '../rules/policy-options.js';
import type { PolicyRule } from '../rules/policy-rule.js';

const policyOf = (rules: readonly PolicyRule[], options: PolicyOptions = {}) =>
  createPolicy({ denylist: [], ...options, rules }, { analyzeCommand: simpleAnalysis });

describe('explain()', () => {
  it('gives the decision, the rule with its file and line, and what became of every other rule', () => {
    const origin = { tier: 'user', file: 'policy.toml', line: 7 } as const;
    const policy = policyOf([
      { decision: 'deny', command: 'git push *', origin },
      { decision: 'allow', command: 'git *' },
      { decision: 'allow', tool: 'bash', command: 'git push origin' },
      { decision: 'deny', path: 'x' },
      { decision: 'deny', tool: 'other' },
      { decision: 'ask', command: 'ls' },
    ]);
    const asked = bash('ls; git push origin');
    const explained = policy.explain(asked);
    expect(explained).toMatchObject({
      disposition: 'pre_resolved',
      code: 'policy_denied',
      rule: { place: 'user rules[0] (policy.toml:7)', decision: 'deny', origin },
    });
    expect(explained.candidates.map(({ rule, status, outcome }) => [rule.place, status, outcome])).toEqual([
      ['user rules[0] (policy.toml:7)', 'decided', 'it applies to run git push origin, and decides'],
      [
        'rules[0]',
        'outweighed',
        'it matches run git push origin, but user rules[0] (policy.toml:7) is stricter',
      ],
      [
        'rules[1]',
        'outweighed',
        'it matches run git push origin, but user rules[0] (policy.toml:7) is stricter',
      ],
      ['rules[2]', 'no match', '"x" does not match run ls'],
      ['rules[3]', 'no match', 'the tool is bash'],
      ['rules[4]', 'spoke', 'it applies to run ls; user rules[0] (policy.toml:7) decides'],
    ]);
    expect(explained.reason).toBe(policy.decide(asked).reason);
  });

  it('names the line of the table that made another rule more precise, and the higher tier', () => {
    const rules: PolicyRule[] = [
      { decision: 'allow', tool: 'edit', path: 'a' },
      { decision: 'deny', effect: 'write' },
    ];
    const call = question('edit', [{ kind: 'write', path: 'a' }]);
    expect(policyOf(rules).explain(call).candidates[1]?.outcome).toBe(
      'it matches write a, but rules[0] is more precise (kind of pattern)',
    );
    const tiers = {
      administrator: [{ decision: 'ask', tool: 'edit' } as const],
      user: [{ decision: 'allow', path: 'a' } as const, { decision: 'ask', path: 'a' } as const],
    };
    expect(
      policyOf([], { tiers })
        .explain(call)
        .candidates.map(({ outcome }) => outcome),
    ).toEqual([
      'it applies to write a, and decides',
      'it matches write a, but administrator rules[0] is stricter',
      'it matches write a, but administrator rules[0] stands in a higher tier, and a lower one can only tighten',
    ]);
  });

  it('explains where no rule decides', () => {
    const explained = policyOf([{ decision: 'allow', tool: 'bash' }]).explain(bash('ls'));
    expect(explained.rule).toBeUndefined();
    expect(explained.reason).toBe(
      'bash requires approval, and a rule without path, command or url does not lift that: allow tool "bash", rules[0].',
    );
    expect(explained.candidates).toMatchObject([{ status: 'spoke' }]);
    // Beside the advice to write a rule, "whatever the policy allows" was a contradiction.
    expect(policyOf([]).explain(bash('ls'))).toMatchObject({
      reason: 'bash requires approval, and no rule allows this call.',
      candidates: [],
    });
    expect(policyOf([{ decision: 'deny' }], { enabled: false }).explain(bash('ls'))).toMatchObject({
      code: 'policy_disabled',
      candidates: [{ status: 'spoke', outcome: 'it applies to run ls; something else decides' }],
    });
  });
});

describe('problems()', () => {
  it.each([
    [{ decision: 'deny', tool: [] }, 'its list of tool is empty'],
    [{ decision: 'deny', path: 'a', effect: 'run' }, 'path is about read, write, delete'],
    [{ decision: 'deny', command: 'a', effect: ['fetch'] }, 'command is about run'],
    [{ decision: 'deny', path: 'a', url: 'b.com' }, 'no part of a call has both path and url'],
    [{ decision: 'deny', contains: 'a', path: 'b' }, 'no part of a call has both path and contains'],
    [{ decision: 'deny', command: 'a', side_effecting: false }, 'side_effecting is false'],
    [{ decision: 'deny', effect: ['write', 'run'], side_effecting: false }, 'side_effecting is false'],
    [{ decision: 'deny', tool: 'run_comand' }, 'no tool is called run_comand'],
    [{ decision: 'deny', tool: 'mcp_*' }, 'no tool is called mcp_*'],
    [{ decision: 'allow', tool: 'denied', path: 'a' }, 'the denylist refuses its tools'],
  ] as const)('finds what can never match: %j', (rule, message) => {
    const policy = policyOf([rule], { denylist: ['denied'] });
    const tools = [{ name: 'bash', aliases: ['Bash'] }, { name: 'denied' }];
    expect(policy.problems(tools)).toEqual([expect.stringContaining(message)]);
    expect(policy.problems(tools)[0]).toContain('rules[0]');
  });

  const shadowed: readonly (readonly [above: PolicyRule, below: PolicyRule])[] = [
    [
      { decision: 'deny', command: 'rm *' },
      { decision: 'allow', command: 'rm *' },
    ],
    [
      { decision: 'deny', command: 'rm *' },
      { decision: 'deny', command: 'rm *' },
    ],
    [
      { decision: 'deny', contains: 'rm' },
      { decision: 'deny', contains: 'rm -rf' },
    ],
    [
      { decision: 'deny', tool: 'ba*', origin: { tier: 'administrator' } },
      { decision: 'allow', tool: 'bash', command: 'ls' },
    ],
    [
      { decision: 'ask', path: '/etc/**', origin: { tier: 'user' } },
      { decision: 'allow', path: '/etc/hosts', effect: 'read' },
    ],
  ];
  it.each(shadowed)('finds a rule that another always overrides: %j above %j', (above, below) => {
    const problems = policyOf([above, below]).problems();
    expect(problems).toEqual([
      expect.stringMatching(/it never decides, because .* always decides before it/),
    ]);
  });

  const fine: readonly (readonly [PolicyRule, PolicyRule])[] = [
    [
      { decision: 'deny', command: 'rm *' },
      { decision: 'allow', command: 'rm build/*' },
    ],
    [
      { decision: 'deny', tool: 'bash' },
      { decision: 'allow', tool: 'bash', command: 'ls' },
    ],
    [
      { decision: 'deny', path: 'a', effect: 'read' },
      { decision: 'allow', path: 'a', effect: 'write' },
    ],
    [
      { decision: 'deny', path: ['a', 'b'] },
      { decision: 'allow', path: ['b', 'c'] },
    ],
    [
      { decision: 'allow', tool: 'a', origin: { tier: 'user' } },
      { decision: 'deny', tool: 'a', path: 'x' },
    ],
  ];
  it.each(fine)('finds nothing wrong with %j and %j', (one, other) => {
    expect(policyOf([one, other]).problems()).toEqual([]);
    expect(policyOf([other, one]).problems()).toEqual([]);
  });
});
