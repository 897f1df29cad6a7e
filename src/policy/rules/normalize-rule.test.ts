import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { isToolError } from '../../errors/tool-error.js';
import { createPolicy } from '../create-policy.js';
import { simpleAnalysis } from '../fixtures/simple-analysis.js';
import { checkRule } from './compile-rule.js';
import { normalizeRule } from './normalize-rule.js';
import type { PolicyRule } from './policy-rule.js';
import { ruleSchema } from './rule-fields.js';

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (isToolError(error, 'config_invalid')) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('normalizeRule()', () => {
  it.each([
    [{ decison: 'deny' }, 'Policy rules[3] has an unknown field "decison". Did you mean "decision"?'],
    [{ tool: 'x' }, 'Policy rules[3] has no decision: write "allow", "ask" or "deny".'],
    [{ decision: 'Deny' }, 'Policy rules[3].decision is "Deny": expected "allow", "ask" or "deny".'],
    [{ decision: 'deny', tools: 'x' }, 'Did you mean "tool"?'],
    [{ decision: 'deny', notMatch: 'x' }, 'Did you mean "not_match"?'],
    [{ decision: 'deny', tool: 'run command' }, 'rules[3].tool is "run command"'],
    [{ decision: 'deny', tool: ['a', 7] }, 'rules[3].tool is 7'],
    [{ decision: 'deny', effect: 'execute' }, 'rules[3].effect is "execute": expected one of read, write'],
    [{ decision: 'deny', command: '' }, 'rules[3].command is ""'],
    [{ decision: 'deny', side_effecting: 'yes' }, 'rules[3].side_effecting is "yes": expected true or false'],
    [{ decision: 'deny', side_effecting: [true] }, 'rules[3].side_effecting is [true]'],
    [{ decision: 'ask', write_through: true }, 'rules[3] has write_through and does not allow'],
    [{ decision: 'allow', write_through: 1 }, 'rules[3].write_through is 1: expected true or false'],
    [{ decision: 'deny', match: { comand: 'x' } }, 'unknown field "comand". Did you mean "command"?'],
    [{ decision: 'deny', match: { command: 7 } }, 'has an example whose command is 7'],
    [{ decision: 'deny', match: { effect: 'x' } }, 'has an example whose effect is "x"'],
    [{ decision: 'allow', args: {} }, 'Policy rules[3].args is {}: expected a table of JSON pointers'],
    [
      { decision: 'allow', args: ['/a'] },
      'Policy rules[3].args is ["/a"]: expected a table of JSON pointers',
    ],
    [
      { decision: 'allow', args: { repo: 'x' } },
      'rules[3].args has "repo" with "x": expected a JSON pointer',
    ],
    [{ decision: 'allow', args: { '/a': [] } }, 'rules[3].args has "/a" with []: expected a pattern, a list'],
    [
      { decision: 'allow', args: { '/a': [2, 1] } },
      'rules[3].args has "/a" with [2,1]: the range runs backwards',
    ],
    [JSON.parse('{"decision":"deny","args":{"__proto__":"x"}}'), 'rules[3].args has "__proto__" with "x"'],
    [{ decision: 'allow', contains: 'x' }, 'Policy rules[3] allows by contains'],
    [{ decision: 'deny', origin: { tier: 'root' } }, 'rules[3].origin has the tier "root"'],
    [JSON.parse('{"decision":"deny","__proto__":{"tool":"x"}}'), 'unknown field "__proto__"'],
    [{ decision: 'deny', constructor: 1 }, 'unknown field "constructor"'],
    ['deny', 'Policy rules[3] is "deny": expected a rule'],
    [['deny'], 'Policy rules[3] is ["deny"]'],
    [null, 'Policy rules[3] is null'],
  ])('refuses %j', (rule, message) => {
    expect(refusal(() => checkRule(rule, 'rules[3]'))).toContain(message);
  });

  it('takes nothing from a prototype, and nothing that changes later', () => {
    expect(refusal(() => normalizeRule(Object.create({ decision: 'allow' })))).toContain('has no decision');
    const tools = ['a'];
    const options = normalizeRule({ decision: 'deny', tool: tools, match: undefined });
    tools[0] = 'b';
    expect(options).toEqual({ decision: 'deny', tool: ['a'] });
    expect(Object.isFrozen(options)).toBe(true);
  });

  it('and its JSON Schema say the same of what a file can hold', () => {
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(ruleSchema());
    const good: PolicyRule[] = [
      {
        decision: 'deny',
        tool: ['a', 'b*'],
        effect: 'run',
        command: 'x *',
        match: ['x y', { command: 'x' }],
      },
      {
        decision: 'deny',
        tool: 'a',
        args: { '/a/0': 'x*', '/b~1c': ['x', 'y'], '/d': [1, 2], '/e': 3, '/f': true, '/__proto__': '' },
      },
      { decision: 'allow', command: 'git mv *', write_through: true },
      { decision: 'allow', path: 'a', category: 'file', side_effecting: false, mode: ['auto'], reason: 'x' },
    ];
    for (const rule of good) expect([normalizeRule(rule), validate(rule)]).toEqual([rule, true]);
    for (const rule of [
      {},
      { decision: 'x' },
      { decision: 'ask', tools: 'x' },
      { decision: 'ask', effect: 'x' },
      { decision: 'ask', args: {} },
      { decision: 'ask', args: { a: 'x' } },
      { decision: 'ask', args: { '/a~2': 'x' } },
      { decision: 'ask', args: { '/a': [] } },
      { decision: 'ask', args: { '/a': [1, 2, 3] } },
      { decision: 'ask', args: { '/a': null } },
    ]) {
      expect(validate(rule)).toBe(false);
      expect(() => checkRule(rule, 'rule')).toThrow();
    }
  });
});

describe('a pattern that means less than its author thinks', () => {
  it.each([
    [{ path: '[a' }, 'a "[" is not closed'],
    [{ path: '{a' }, 'a "{" is not closed'],
    [{ path: 'a}' }, 'a "}" was never opened'],
    [{ path: 'a\\' }, 'a lone backslash'],
    [{ path: '!a' }, 'cannot be negated'],
    [{ path: '~/a' }, '"~" is not expanded'],
    [{ path: 'a/../b' }, 'would match nothing'],
    [{ path: 'a\0' }, 'NUL'],
    [{ path: '+(a|b' }, 'a "(" is not closed'],
    [{ path: '[[:alfa:]]' }, 'there is no class [:alfa:]'],
    [{ path: '[z-a]' }, 'runs backwards'],
    [{ path: ' ' }, 'it is empty'],
    [{ path: '{a,b}'.repeat(12) }, 'more than 1000 alternatives'],
    [{ path: '{1..100000}' }, 'more than 1000 alternatives'],
    [{ command: ' ' }, 'it is empty'],
    [{ command: 'a "b' }, 'a " is not closed'],
    [{ command: 'a \\' }, 'a lone backslash'],
    [{ url: 'https://a.com/path' }, 'it is not a host'],
    [{ url: 'good.com@evil.com' }, 'it is not a host'],
    [{ url: 'a*.com' }, 'whole names at the beginning only'],
    [{ url: '*.1.2.3.4' }, 'an address has no names before it'],
    [{ url: 'a b' }, 'it is not a host'],
    [{ url: 'a..b%' }, 'is not a host'],
  ])('%j', (conditions, message) => {
    const text = refusal(() =>
      createPolicy({ rules: [{ decision: 'ask' }, { decision: 'deny', ...conditions }] }),
    );
    expect(text).toContain('Policy rules[1].');
    expect(text).toContain(message);
  });
});

describe('examples of a rule', () => {
  const create = (rule: PolicyRule): unknown =>
    createPolicy({ rules: [{ decision: 'ask' }, rule] }, { analyzeCommand: simpleAnalysis });

  const good: readonly PolicyRule[] = [
    {
      decision: 'allow',
      command: 'git status *',
      match: ['git status', 'git status -s'],
      not_match: 'git log',
    },
    { decision: 'allow', command: 'git status', not_match: 'git status; rm x' },
    { decision: 'deny', command: 'rm *', match: ['ls; rm x', '/bin/rm x'], not_match: ['rmdir x'] },
    { decision: 'deny', contains: 'rm -rf', match: 'echo rm -rf', not_match: 'rm -r' },
    { decision: 'deny', path: '*.pem', match: ['a.pem', 'x/A.PEM'], not_match: 'pem' },
    {
      decision: 'deny',
      path: '*.pem',
      effect: 'write',
      match: 'a.pem',
      not_match: { path: 'a.pem', effect: 'read' },
    },
    { decision: 'deny', url: '*.evil.com', match: 'https://a.evil.com', not_match: 'https://evil.com' },
    { decision: 'deny', tool: 'mcp_*', match: 'mcp_files', not_match: 'read_file' },
    { decision: 'deny', tool: 'x', effect: 'delete', match: { tool: 'x', effect: 'delete' }, not_match: 'y' },
    { decision: 'deny', tool: ['x', 'y'], command: 'a', match: [{ tool: 'y', args: { command: 'a' } }] },
    { decision: 'deny', agent: 'r*', match: { agent: 'reviewer' }, not_match: { agent: 'main' } },
    { decision: 'deny', mode: 'auto', category: 'web', idempotent: true, match: 'any_tool' },
    { decision: 'deny', match: [], not_match: [] },
  ];
  it.each(good)('hold: %j', (rule) => {
    expect(() => create(rule)).not.toThrow();
  });

  it.each([
    [
      { decision: 'allow', command: 'git status', match: 'git status -s' },
      'does not match its own example "git status -s" of match',
    ],
    [
      { decision: 'allow', command: 'git status *', match: 'git status; rm x' },
      'does not match its own example',
    ],
    [
      { decision: 'deny', command: 'rm *', not_match: 'ls; rm x' },
      'matches its own example "ls; rm x" of not_match',
    ],
    [{ decision: 'deny', path: 'a', match: { path: 'b' } }, 'does not match its own example {"path":"b"}'],
    [{ decision: 'deny', url: 'evil.com', match: 'evil.com' }, 'does not match its own example'],
    [{ decision: 'deny', tool: 'x', match: 'y' }, 'does not match its own example'],
  ] as const)('that do not hold are refused: %j', (rule, message) => {
    const text = refusal(() => create(rule));
    expect(text).toContain('rules[1]');
    expect(text).toContain(message);
  });
});
