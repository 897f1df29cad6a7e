import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicy } from './create-policy.js';
import { ORDER } from './evaluation/order.js';
import { PRECISION } from './evaluation/precedence.js';
import { bash, inShort, outcome, question } from './fixtures/ask.js';
import { simpleAnalysis } from './fixtures/simple-analysis.js';
import type { PolicyRule, RuleTier } from './rules/policy-rule.js';

const DECISIONS = ['allow', 'ask', 'deny'] as const;
const OUTCOME = { allow: 'run', ask: 'ask', deny: 'policy_denied' } as const;
type Conditions = Omit<PolicyRule, 'decision'>;

/**
 * For each line of the table: the preferred conditions and the others, which are equal in every line above.
 */
const PAIRS: Readonly<Record<string, readonly (readonly [more: Conditions, less: Conditions])[]>> = {
  'kind of pattern': [
    [{ command: 'git log' }, { command: 'git log *' }],
    [{ command: '*' }, { tool: 'bash', effect: 'run' }],
  ],
  length: [
    [{ command: 'git log *' }, { command: 'git *', tool: 'bash' }],
    [{ command: 'git *' }, { command: '*' }],
  ],
  tool: [
    [
      { tool: 'bash', command: 'git *' },
      { tool: 'ba*', command: 'git *', effect: 'run' },
    ],
    [{ tool: 'ba*', command: 'git *' }, { command: 'git *' }],
  ],
  effect: [
    [
      { command: 'git *', effect: 'run' },
      { command: 'git *', mode: 'auto', agent: 'main' },
    ],
  ],
  circumstances: [
    [
      { command: 'git *', mode: 'auto', agent: 'main' },
      { command: 'git *', mode: 'auto' },
    ],
  ],
};

describe('PRECISION', () => {
  const call = bash('git log');

  it.each(Object.entries(PAIRS))(
    '%s: the more precise rule decides, whatever both say, in either order',
    (_name, pairs) => {
      for (const [more, less] of pairs) {
        for (const first of DECISIONS) {
          for (const second of DECISIONS) {
            const rules = [
              { decision: first, ...more },
              { decision: second, ...less },
            ];
            const expected = OUTCOME[first];
            const options = { mode: 'auto' } as const;
            const given = { ...call, requiresApproval: false };
            expect([rules, outcome(rules, given, options)]).toEqual([rules, expected]);
            expect([rules, outcome([...rules].reverse(), given, options)]).toEqual([rules, expected]);
          }
        }
      }
    },
  );

  it('has a pair for every line but the last two, which hold for equal rules', () => {
    expect(Object.keys(PAIRS)).toEqual(PRECISION.slice(0, -2).map(({ name }) => name));
    const equal = { command: 'git log' };
    expect(
      outcome(
        [
          { decision: 'allow', ...equal },
          { decision: 'deny', ...equal },
        ],
        call,
      ),
    ).toBe('policy_denied');
    expect(
      outcome(
        [
          { decision: 'allow', ...equal },
          { decision: 'ask', ...equal },
        ],
        call,
      ),
    ).toBe('ask');
    const policy = createPolicy({
      rules: [
        { decision: 'deny', ...equal },
        { decision: 'deny', ...equal },
      ],
    });
    expect(policy.decide(call).rule).toBe('rules[0]');
  });

  it('prefers a literal text of the command to everything', () => {
    const rules: PolicyRule[] = [
      { decision: 'allow', tool: 'bash', command: 'git log --a-long-and-exact-command' },
      { decision: 'deny', contains: 'log' },
    ];
    expect(outcome(rules, bash('git log --a-long-and-exact-command'))).toBe('policy_denied');
  });
});

const SEEN_THE_WEB = { seen: ['web:example.org'], args: {}, places: {} };

describe('ORDER', () => {
  it('answers at every step, the earlier before the later', () => {
    const blocked = 'DESTROY';
    const rules: PolicyRule[] = [
      { decision: 'deny', contains: 'DENIED' },
      { decision: 'ask', contains: 'ASKED' },
      { decision: 'allow', command: ['fine *', 'cat *'] },
    ];
    const decide = (command: string, options: object = {}, more: object = {}) =>
      inShort(
        createPolicy({ denylist: [], rules, ...options }, { analyzeCommand: simpleAnalysis }).decide({
          ...bash(command),
          ...more,
        }),
      );
    const all = `${blocked} DENIED ASKED`;
    const outside = { sandboxViolation: true };
    const reached = [
      decide(all, { enabled: false, denylist: ['bash'], mode: 'deny' }, outside),
      decide(all, { denylist: ['bash'], mode: 'deny' }, outside),
      decide(all, { mode: 'deny' }, outside),
      decide(all, { mode: 'deny' }),
      decide('$DENIED ASKED', { mode: 'deny' }),
      decide('$ASKED', { mode: 'deny' }),
      decide('$ASKED', { mode: 'auto' }),
      decide('fine > ASKED', { mode: 'auto' }, { refusal: () => 'It lies outside.' }),
      decide('ASKED', { mode: 'auto' }),
      decide('fine', { mode: 'auto' }, { requiresApproval: false, network: true, origins: SEEN_THE_WEB }),
      decide('other', { mode: 'auto' }),
      decide('other', {}, { requiresApproval: false }),
      decide('cat src', {}, { hiddenBelow: () => '.env' }),
      decide('fine'),
    ];
    expect(reached).toEqual([
      'policy_disabled',
      'denylisted',
      'sandbox_violation',
      'security_violation',
      'policy_denied',
      'policy_denied',
      'ask',
      'ask',
      'ask',
      'ask',
      'ask',
      'ask',
      'ask',
      'run',
    ]);
    expect(reached).toHaveLength(ORDER.length);
  });
});

describe('tiers', () => {
  const TIERS: readonly RuleTier[] = ['administrator', 'user', 'project'];
  const strictness = { allow: 0, ask: 1, deny: 2 } as const;
  const call = question('write_file', [{ kind: 'write', path: 'a' }]);

  it('only tighten what a higher one says, in all combinations, however precise the rules are', () => {
    const choices = [undefined, ...DECISIONS];
    for (const program of choices) {
      for (const administrator of choices) {
        for (const user of choices) {
          for (const project of choices) {
            const said = [program, administrator, user, project];
            const rule = (
              decision: (typeof choices)[number],
              conditions: Conditions,
            ): readonly PolicyRule[] => (decision === undefined ? [] : [{ decision, ...conditions }]);
            const result = outcome(rule(program, { effect: 'write' }), call, {
              projectMayAllow: true,
              tiers: {
                administrator: rule(administrator, {}),
                user: rule(user, { tool: 'write_file' }),
                project: rule(project, { path: 'a' }),
              },
            });
            const given = said.filter((decision) => decision !== undefined);
            const strictest = given.sort((a, b) => strictness[b] - strictness[a])[0];
            expect([said, result]).toEqual([said, strictest === undefined ? 'ask' : OUTCOME[strictest]]);
          }
        }
      }
    }
  });

  it('of a project that is not trusted allow nothing', () => {
    const tiers = { project: [{ decision: 'allow', path: 'a' } as const] };
    expect(outcome([], call, { tiers })).toBe('ask');
    expect(outcome([], call, { tiers, projectMayAllow: true })).toBe('run');
    expect(outcome([{ decision: 'allow', path: 'a', origin: { tier: 'project' } }], call)).toBe('ask');
    const policy = createPolicy({ tiers });
    expect(policy.problems().join()).toContain('until the project is trusted');
    expect(policy.explain(call).candidates[0]?.outcome).toContain('not trusted');
  });

  it('keep their most precise rule to themselves: an allowing one does not lift another tier', () => {
    for (const tier of TIERS.slice(1)) {
      const tiers = {
        administrator: [{ decision: 'ask', effect: 'write' } as const],
        [tier]: [{ decision: 'allow', tool: 'write_file', path: 'a' } as const],
      };
      expect(outcome([], call, { tiers, projectMayAllow: true })).toBe('ask');
    }
  });
});

describe('the order of the rules', () => {
  const rule = fc.record(
    {
      decision: fc.constantFrom(...DECISIONS),
      tool: fc.constantFrom('bash', 'Bash', 'ba*', 'x'),
      effect: fc.constantFrom('run', 'write', 'read', 'delete'),
      command: fc.constantFrom('rm *', 'git *', '*', 'touch a', 'git log'),
      path: fc.constantFrom('**', 'a', '*.pem', 'src/**', '/work/a', '**/a'),
    },
    { requiredKeys: ['decision'] },
  );
  const command = fc.constantFrom('rm a', 'git log', 'touch a; git log', 'git log > src/a', '/bin/rm x.pem');

  it('changes nothing, and each part gets its own rule: the strictest counts', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), command, fc.boolean(), (rules, text, approval) => {
        const given = { ...bash(text), requiresApproval: approval, roots: ['/work'] };
        const options = { denylist: [], mode: 'auto', rules } as const;
        const parts = { analyzeCommand: simpleAnalysis };
        const answer = createPolicy(options, parts).decide(given);
        const reversed = createPolicy({ ...options, rules: [...rules].reverse() }, parts).decide(given);
        expect(inShort(reversed)).toBe(inShort(answer));
        // An additional denying rule never allows anything.
        const tightened = createPolicy({ ...options, rules: [...rules, { decision: 'deny' }] }, parts).decide(
          given,
        );
        if (inShort(answer) === 'policy_denied') expect(inShort(tightened)).toBe('policy_denied');
        if (inShort(tightened) === 'run') expect(inShort(answer)).toBe('run');
      }),
      { numRuns: 500 },
    );
  });
});
