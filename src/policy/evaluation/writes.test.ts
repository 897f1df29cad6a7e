import { describe, expect, it } from 'vitest';
import type { Effect } from '../../contract/effect.js';
import type { PolicyQuestion } from '../../contract/policy.js';
import { createPolicy } from '../create-policy.js';
import type { PolicyRule } from '../rules/policy-rule.js';
import { analyzeCommand } from '../shell/analyze-command.js';

const bash = (command: string): PolicyQuestion => ({
  name: 'bash',
  sideEffecting: true,
  requiresApproval: false,
  effects: [{ kind: 'run', command, shell: 'bash' }],
  roots: ['/w'],
  locate: (path) => (path.startsWith('/') ? undefined : `/w/${path}`),
});

const write = (path: string): PolicyQuestion => ({
  name: 'write_file',
  sideEffecting: true,
  requiresApproval: false,
  effects: [{ kind: 'write', path }],
  places: [{ at: `/w/${path}` }],
  roots: ['/w'],
});

const decide = (question: PolicyQuestion, ...rules: readonly PolicyRule[]) =>
  createPolicy({ rules, denylist: [] }, { analyzeCommand }).decide(question);

describe('a rule that allows says what its command may change', () => {
  it('in the answer, as patterns of all rules that allow the parts, or as nothing where one has none', () => {
    const make: PolicyRule = { decision: 'allow', command: 'make *', writes: 'build/**' };
    const touch: PolicyRule = { decision: 'allow', command: 'mytool *', writes: ['out/**', 'log'] };
    const free: PolicyRule = { decision: 'allow', command: 'other *' };
    expect(decide(bash('make all'), make).consent).toEqual({ patterns: ['build/**'], named: [] });
    expect(decide(bash('make all && mytool x'), make, touch).consent).toEqual({
      patterns: ['build/**', 'out/**', 'log'],
      named: [],
    });
    expect(decide(bash('make all; other x'), make, free).consent).toEqual({ named: [] });
    expect(decide(bash('make all'), { ...make, writes: [] }).consent).toEqual({ patterns: [], named: [] });
  });

  it('with what a rule allows by its path', () => {
    const rules: readonly PolicyRule[] = [
      { decision: 'allow', command: 'echo *' },
      { decision: 'allow', effect: 'write', path: 'Makefile' },
    ];
    expect(decide(bash('echo x > Makefile'), ...rules)).toMatchObject({
      disposition: 'execute_now',
      consent: { named: [{ kind: 'write', path: 'Makefile' }] },
    });
  });

  it('and does not let it change more than that where the command says so', () => {
    const rule: PolicyRule = { decision: 'allow', command: 'cp *', writes: 'out/**' };
    expect(decide(bash('cp a out/b'), rule).disposition).toBe('execute_now');
    expect(decide(bash('cp a src/b'), rule).disposition).toBe('requires_confirmation');
  });

  it('which a transaction shows when the command has ended, and nothing else may', () => {
    const rule: PolicyRule = { decision: 'allow', command: ['mkdir *', 'touch *'], writes: 'out/**' };
    for (const command of ['mkdir out', "touch 'out/[id].ts'", 'touch src/b']) {
      const question = { ...bash(command), requiresApproval: true };
      expect(decide({ ...question, transaction: true }, rule)).toMatchObject({
        disposition: 'execute_now',
        consent: { patterns: ['out/**'] },
      });
      expect(decide(question, rule).disposition).toBe('requires_confirmation');
      expect(decide({ ...question, transaction: true }, { ...rule, write_through: true }).disposition).toBe(
        'requires_confirmation',
      );
    }
  });

  it('and the reason of a question says which path a rule for a tool leaves out', () => {
    const rule: PolicyRule = { decision: 'allow', tool: 'write_file', effect: 'write' };
    expect(decide(write('src/a.ts'), rule).disposition).toBe('execute_now');
    const { disposition, reason } = decide(write('Makefile'), rule);
    expect(disposition).toBe('requires_confirmation');
    expect(reason).toMatch(
      /allow tool "write_file".* does not cover write Makefile, which runs later by itself/,
    );
    expect(reason).not.toContain('allowlist');
    const required = decide({ ...write('Makefile'), requiresApproval: true }, rule);
    expect(required.reason).toMatch(/requires approval.*does not cover write Makefile/);
  });

  it('and is compared with its changes where it runs in a transaction', () => {
    const rule: PolicyRule = { decision: 'allow', command: 'cp *', writes: 'out/**' };
    const contained = (command: string) => ({ ...bash(command), transaction: true });
    expect(decide(contained('cp a src/b'), rule)).toMatchObject({
      disposition: 'execute_now',
      consent: { patterns: ['out/**'], named: [] },
    });
    const through: PolicyRule = { ...rule, write_through: true };
    expect(decide(contained('cp a src/b'), through).disposition).toBe('requires_confirmation');
    const redirected = decide(contained('cp a out/b > src/log'), rule);
    expect(redirected.disposition).toBe('requires_confirmation');
  });

  it('and no later code, unless it names that', () => {
    const rule: PolicyRule = { decision: 'allow', command: 'cp *' };
    expect(decide(bash('cp a b'), rule).disposition).toBe('execute_now');
    expect(decide(bash('cp a Makefile'), rule).disposition).toBe('requires_confirmation');
    expect(decide(bash('cp a .husky/pre-commit'), rule).disposition).toBe('requires_confirmation');
    expect(decide(bash('cp a Makefile'), { ...rule, writes: 'Makefile' }).disposition).toBe('execute_now');
    const tool: PolicyRule = { decision: 'allow', tool: 'write_file' };
    expect(decide(write('a.txt'), tool).disposition).toBe('execute_now');
    expect(decide(write('Makefile'), tool).disposition).toBe('requires_confirmation');
    expect(decide(write('Makefile'), { ...tool, path: '*' }).disposition).toBe('execute_now');
  });

  it('and bounds tools that are no commands by the paths that they declare', () => {
    const rule: PolicyRule = { decision: 'allow', tool: ['write_file', 'gen'], writes: 'out/**' };
    expect(decide(write('out/a'), rule).disposition).toBe('execute_now');
    expect(decide(write('src/a'), rule)).toMatchObject({
      disposition: 'requires_confirmation',
      reason: expect.stringContaining('does not cover write src/a, which its writes do not name'),
    });
    const gen: PolicyQuestion = { name: 'gen', sideEffecting: true, requiresApproval: false };
    expect(decide({ ...gen, effects: [{ kind: 'unknown' }] }, rule).consent).toEqual({
      patterns: ['out/**'],
      named: [],
    });
    expect(decide(gen, rule).consent).toEqual({ patterns: ['out/**'], named: [] });
    expect(decide(gen, { decision: 'allow', tool: 'gen' }).consent).toBeUndefined();
    const path: PolicyRule = { decision: 'allow', effect: 'write', path: 'Makefile' };
    expect(decide({ ...write('Makefile'), name: 'gen' }, path).consent).toEqual({
      named: [{ kind: 'write', path: 'Makefile' }],
    });
  });

  it('bug: was dropped where the tool also declares a write', () => {
    const make: PolicyRule = { decision: 'allow', command: 'make', writes: ['dist/**'] };
    const says = (effects: readonly Effect[], ...more: readonly PolicyRule[]) => {
      const policy = createPolicy({ mode: 'auto', rules: [make, ...more] }, { analyzeCommand });
      return policy.decide({ ...bash('make'), name: 'build', effects }).consent;
    };
    const run = { kind: 'run', command: 'make', shell: 'bash' } as const;
    for (const kind of ['write', 'delete'] as const) {
      expect(says([run, { kind, path: 'dist/x' }])).toEqual({ patterns: ['dist/**'], named: [] });
      const tool: PolicyRule = { decision: 'allow', tool: 'build', effect: kind, writes: 'other/**' };
      expect(says([{ kind, path: 'other/x' }, run], tool)).toEqual({ patterns: ['dist/**'], named: [] });
      expect(says([{ kind, path: 'other/x' }], tool)).toEqual({ patterns: ['other/**'], named: [] });
    }
    // The tool itself may change anything.
    expect(says([run, { kind: 'unknown' }])).toEqual({ named: [] });
  });

  it('as the table says, or what takes its place', () => {
    const rules: readonly PolicyRule[] = [{ decision: 'allow', command: 'cp *' }];
    const own = createPolicy({ rules, laterCode: ['*.sh'] }, { analyzeCommand });
    expect(own.decide(bash('cp a Makefile')).disposition).toBe('execute_now');
    expect(own.decide(bash('cp a run.sh')).disposition).toBe('requires_confirmation');
    expect(own.laterCode).toEqual(['*.sh']);
  });

  it('and only where it allows, with patterns that can be read', () => {
    for (const rule of [
      { decision: 'ask', command: 'a', writes: 'b' },
      { decision: 'allow', command: 'a', writes: '' },
      { decision: 'allow', command: 'a', writes: '!b' },
      { decision: 'allow', command: 'a', writes: 7 },
    ])
      expect(() => createPolicy({ rules: [rule as PolicyRule] }), JSON.stringify(rule)).toThrow(/writes/);
    expect(() => createPolicy({ laterCode: ['!a'] })).toThrow(/laterCode/);
    expect(
      createPolicy({ rules: [{ decision: 'allow', command: 'make *', writes: [] }] }).problems(),
    ).toEqual([]);
  });
});

describe('effects that are found in a command', () => {
  const refusal: PolicyQuestion['refusal'] = (effect) =>
    'path' in effect && effect.path.startsWith('private/') ? 'It is not for tools.' : undefined;

  it('are in the answer, with paths as the call names them', () => {
    expect(decide(bash('cd d && echo x > a')).seen).toEqual([{ kind: 'write', path: 'd/a' }]);
    expect(decide(bash('true')).seen).toBeUndefined();
  });

  it('need approval where a file tool would be refused, whatever rule allows the command', () => {
    const rule: PolicyRule = { decision: 'allow', command: ['cp *', 'curl *', 'true'] };
    const says = (command: string) => decide({ ...bash(command), refusal }, rule);
    expect(says('cp a private/b')).toMatchObject({
      disposition: 'requires_confirmation',
      reason: expect.stringContaining('It is not for tools.'),
    });
    expect(says('true; cp a b').disposition).toBe('execute_now');
    expect(decide(bash('cp a private/b'), rule).disposition).toBe('execute_now');
  });
});

describe('an analysis that does not say which command has which effect', () => {
  /** The built-in table without that part. */
  const coarse: typeof analyzeCommand = (text, shell) => {
    const { found: _, ...rest } = analyzeCommand(text, shell);
    return rest;
  };
  const says = (command: string) => {
    const rules: readonly PolicyRule[] = [{ decision: 'allow', command: ['echo *', 'touch *'] }];
    const policy = createPolicy({ rules, denylist: [] }, { analyzeCommand: coarse });
    return policy.decide(bash(command)).disposition;
  };

  it('lets a rule allow what its command does alone', () => {
    expect(says("touch 'a b' c")).toBe('execute_now');
    expect(says('echo x > f')).toBe('requires_confirmation');
  });

  it('reads a quoted word as one word, and not as a redirection', () => {
    expect(says("echo 'x > f' > f")).toBe('requires_confirmation');
    expect(says('touch "it\'s"')).toBe('execute_now');
  });
});
