import { describe, expect, it } from 'vitest';
import type { PolicyQuestion } from '../contract/policy.js';
import { createPolicy } from './create-policy.js';
import type { PolicyOptions } from './rules/policy-options.js';

const BOTH = [true, false] as const;
const MODES = ['auto', 'prompt', 'deny'] as const;

interface Row {
  readonly enabled: boolean;
  readonly mode: (typeof MODES)[number];
  readonly allow: boolean;
  readonly deny: boolean;
  readonly promptSideEffects: boolean;
  readonly sandboxViolation: boolean;
  readonly requiresApproval: boolean;
  readonly sideEffecting: boolean;
}

/** Every combination, each variable's first value first, the last variable turning fastest. */
function allRows(): Row[] {
  return BOTH.flatMap((enabled) =>
    MODES.flatMap((mode) =>
      BOTH.flatMap((allow) =>
        BOTH.flatMap((deny) =>
          BOTH.flatMap((promptSideEffects) =>
            BOTH.flatMap((sandboxViolation) =>
              BOTH.flatMap((requiresApproval) =>
                BOTH.map((sideEffecting) => ({
                  enabled,
                  mode,
                  allow,
                  deny,
                  promptSideEffects,
                  sandboxViolation,
                  requiresApproval,
                  sideEffecting,
                })),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * The requirement read as a list of sentences, each independent of the others, strongest first: the first whose
 * condition holds gives the outcome (D036 to D041).
 */
const SENTENCES: readonly (readonly [when: (row: Row) => boolean, outcome: string])[] = [
  [(row) => !row.enabled, 'policy_disabled'],
  [(row) => row.deny, 'denylisted'],
  [(row) => row.sandboxViolation, 'sandbox_violation'],
  [(row) => row.mode === 'deny' && !row.allow, 'policy_denied'],
  [(row) => row.requiresApproval, 'ask'],
  [(row) => row.mode === 'prompt' && row.promptSideEffects && row.sideEffecting && !row.allow, 'ask'],
  [() => true, 'run'],
];

function evaluate(row: Row, more: PolicyOptions = {}): { outcome: string; reason: string } {
  const policy = createPolicy({
    ...more,
    enabled: row.enabled,
    mode: row.mode,
    allowlist: row.allow ? ['subject'] : ['bystander'],
    denylist: row.deny ? ['subject'] : ['bystander'],
    promptSideEffects: row.promptSideEffects,
  });
  const answer = policy.decide({
    name: 'subject',
    sandboxViolation: row.sandboxViolation,
    requiresApproval: row.requiresApproval,
    sideEffecting: row.sideEffecting,
  });
  const plain = { execute_now: 'run', requires_confirmation: 'ask', pre_resolved: 'refused' } as const;
  expect(answer.code === undefined).toBe(answer.disposition !== 'pre_resolved');
  return { outcome: answer.code ?? plain[answer.disposition], reason: answer.reason };
}

describe('createPolicy()', () => {
  it('holds all 384 rows of the truth table (D041)', () => {
    const rows = allRows();
    expect(rows).toHaveLength(384);
    const counts: Record<string, number> = {};
    for (const row of rows) {
      const expected = SENTENCES.find(([when]) => when(row))?.[1];
      const { outcome, reason } = evaluate(row);
      expect({ row, outcome }).toEqual({ row, outcome: expected });
      expect(reason).toMatch(/\S/);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    // Counted by hand: 192 disabled; of the other 192 half denylisted; of those 96 half outside; 48 are left.
    expect(counts).toEqual({
      policy_disabled: 192,
      denylisted: 96,
      sandbox_violation: 48,
      policy_denied: 8,
      ask: 21,
      run: 19,
    });
  });

  it('holds them beside rules that do not match, and with a rule that allows or asks as its sentence says', () => {
    const bystanders = [
      { decision: 'deny', tool: 'bystander' } as const,
      { decision: 'allow', path: '**' } as const,
      { decision: 'ask', effect: 'delete' } as const,
    ];
    const refused = ['policy_disabled', 'denylisted', 'sandbox_violation'];
    for (const row of allRows()) {
      const plain = evaluate(row).outcome;
      expect([row, evaluate(row, { rules: bystanders }).outcome]).toEqual([row, plain]);
      const ruled = (decision: 'allow' | 'ask' | 'deny') =>
        evaluate(row, { rules: [{ decision, tool: 'subject' }] }).outcome;
      const stands = refused.includes(plain);
      expect([row, ruled('allow')]).toEqual([row, stands ? plain : row.requiresApproval ? 'ask' : 'run']);
      expect([row, ruled('ask')]).toEqual([row, stands || plain === 'policy_denied' ? plain : 'ask']);
      expect([row, ruled('deny')]).toEqual([row, stands ? plain : 'policy_denied']);
    }
  });

  it.each([
    ['auto, not listed, side effects', { mode: 'auto' }, { sideEffecting: true }, 'execute_now'],
    ['auto, tool asks', { mode: 'auto' }, { requiresApproval: true }, 'requires_confirmation'],
    ['prompt, reads', { mode: 'prompt' }, {}, 'execute_now'],
    ['prompt, side effects', { mode: 'prompt' }, { sideEffecting: true }, 'requires_confirmation'],
    ['deny, not listed, only reads', { mode: 'deny' }, {}, 'pre_resolved'],
    ['deny, listed', { mode: 'deny', allowlist: ['t'] }, { sideEffecting: true }, 'execute_now'],
    [
      'deny, listed, tool asks',
      { mode: 'deny', allowlist: ['t'] },
      { requiresApproval: true },
      'requires_confirmation',
    ],
  ] as const)('%s', (_title, options, traits, disposition) => {
    const question: PolicyQuestion = { name: 't', sideEffecting: false, requiresApproval: false, ...traits };
    expect(createPolicy(options).decide(question).disposition).toBe(disposition);
  });

  it('defaults: read_file runs, run_command is denylisted, writing asks', () => {
    const policy = createPolicy();
    const effects = { sideEffecting: true, requiresApproval: false };
    expect(policy.decide({ name: 'read_file', ...effects }).disposition).toBe('execute_now');
    expect(policy.decide({ name: 'run_command', ...effects })).toMatchObject({ code: 'denylisted' });
    expect(policy.decide({ name: 'write_file', ...effects }).disposition).toBe('requires_confirmation');
  });

  it('lets a configured list replace the default, even an empty one', () => {
    const policy = createPolicy({ allowlist: ['glob'], denylist: [] });
    const effects = { sideEffecting: true, requiresApproval: false };
    expect(policy.decide({ name: 'read_file', ...effects }).disposition).toBe('requires_confirmation');
    expect(policy.decide({ name: 'run_command', ...effects }).disposition).toBe('requires_confirmation');
  });

  it.each(['auto', 'prompt', 'deny'] as const)(
    'asks for an allowlisted run_command in mode %s, because the tool requires it (D073)',
    (mode) => {
      const policy = createPolicy({ mode, denylist: [], allowlist: ['run_command'] });
      const answer = policy.decide({ name: 'run_command', sideEffecting: true, requiresApproval: true });
      expect(answer.disposition).toBe('requires_confirmation');
      expect(answer.reason).toBe(
        'run_command requires approval, and a name on the allowlist does not lift that.',
      );
    },
  );

  it('holds a list entry against every name of the tool (F001)', () => {
    const policy = createPolicy({ denylist: ['Bash'], allowlist: ['Read'] });
    const traits = { sideEffecting: true, requiresApproval: false };
    expect(policy.decide({ name: 'bash', aliases: ['Bash'], ...traits })).toEqual({
      disposition: 'pre_resolved',
      code: 'denylisted',
      reason: 'bash is refused by the policy, whatever its arguments. Do without it.',
      hint: 'bash is (as Bash) on the denylist.',
    });
    expect(policy.decide({ name: 'file_read', aliases: ['read_file', 'Read'], ...traits }).disposition).toBe(
      'execute_now',
    );
    expect(policy.decide({ name: 'bas', aliases: ['h'], ...traits }).disposition).toBe(
      'requires_confirmation',
    );
  });

  it('lets the denylist win over the allowlist through another name', () => {
    const policy = createPolicy({ mode: 'auto', allowlist: ['bash'], denylist: ['Bash'] });
    const answer = policy.decide({
      name: 'bash',
      aliases: ['Bash'],
      sideEffecting: false,
      requiresApproval: false,
    });
    expect(answer.code).toBe('denylisted');
  });

  it('screens by name alone what needs no arguments', () => {
    const policy = createPolicy({ denylist: ['kill_shell'] });
    expect(policy.screen?.('KillShell', ['kill_shell'])).toMatchObject({ code: 'denylisted' });
    expect(policy.screen?.('read_file', [])).toBeUndefined();
    expect(createPolicy({ enabled: false }).screen?.('read_file', [])).toEqual({
      disposition: 'pre_resolved',
      code: 'policy_disabled',
      reason: 'Tool execution disabled by policy',
      hint: 'Set policy.enabled to true.',
    });
  });

  it('names the list or the mode in its reason, of a refusal in its hint', () => {
    const traits = { name: 'x', sideEffecting: true, requiresApproval: false };
    expect(createPolicy({ mode: 'deny' }).decide(traits).hint).toContain('"deny"');
    expect(createPolicy({ mode: 'prompt' }).decide(traits).reason).toContain('"prompt"');
    expect(createPolicy({ mode: 'auto' }).decide(traits).reason).toContain('"auto"');
    expect(createPolicy({ denylist: ['x'] }).decide(traits).hint).toContain('denylist');
    expect(createPolicy({ allowlist: ['x'] }).decide(traits).reason).toContain('allowlist');
    expect(createPolicy({ promptSideEffects: false }).decide(traits).reason).toContain(
      'does not ask about side effects',
    );
  });

  it('is not changed by what happens to the options afterwards', () => {
    const denylist = ['x'];
    const policy = createPolicy({ denylist });
    denylist.pop();
    expect(policy.screen?.('x', [])?.code).toBe('denylisted');
  });

  it('keeps names of Object.prototype apart', () => {
    const policy = createPolicy({ mode: 'deny', allowlist: [], denylist: [] });
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(policy.decide({ name, sideEffecting: false, requiresApproval: false }).code).toBe(
        'policy_denied',
      );
    }
  });
});

describe('a question of a program without types', () => {
  const decide = (given: unknown) => createPolicy().decide(given as PolicyQuestion);

  it.each([null, undefined, 'read_file', {}, { name: 7 }])('is refused when it has no name: %j', (given) => {
    expect(() => decide(given)).toThrow(expect.objectContaining({ code: 'bad_args' }));
  });

  it.each([
    [{ name: 't' }, 'requires_confirmation'],
    [{ name: 't', sideEffecting: false }, 'requires_confirmation'],
    [{ name: 't', requiresApproval: false }, 'requires_confirmation'],
    [{ name: 't', sideEffecting: 0, requiresApproval: null }, 'requires_confirmation'],
    [{ name: 't', sideEffecting: false, requiresApproval: false }, 'execute_now'],
    [{ name: 't', sideEffecting: false, requiresApproval: false, sandboxViolation: 'yes' }, 'pre_resolved'],
  ])('is evaluated as what it does not rule out: %j', (given, disposition) => {
    expect(decide(given).disposition).toBe(disposition);
  });
});
