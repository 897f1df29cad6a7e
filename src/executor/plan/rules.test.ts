import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Effect } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { ObservedQuestion, PolicyAnswer, PolicyQuestion } from '../../contract/policy.js';
import { createPolicy } from '../../policy/create-policy.js';
import { simpleAnalysis } from '../../policy/fixtures/simple-analysis.js';
import type { PolicyOptions } from '../../policy/rules/policy-options.js';
import type { PolicyRule } from '../../policy/rules/policy-rule.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';
import { pause, probeTool } from '../fixtures/probe-tool.js';

const touching = (name: string, effects: readonly Effect[], more: object = {}) =>
  probeTool(name, () => 'ok', { effects: () => effects, ...more });
const runs = (command: string, more: object = {}) =>
  touching('shell', [{ kind: 'run', command, shell: 'sh' }], {
    requiresApproval: true,
    aliases: ['Shell'],
    ...more,
  });

async function dispositionOf(
  tool: ReturnType<typeof touching>,
  rules: readonly PolicyRule[],
  root = folder(),
) {
  const policy = createPolicy({ rules }, { analyzeCommand: simpleAnalysis });
  const { calls } = await executorOf([tool], { policy, root }).plan([{ id: '1', name: tool.name, args: {} }]);
  const [call] = calls;
  return { disposition: call?.disposition, reason: call?.reason, code: call?.result?.error?.code };
}

describe('commands that a person agrees to', () => {
  const run = async (command: string) => {
    const executor = createExecutor({
      root: folder(),
      journal: false,
      approver: () => ({ kind: 'approve_all' }),
    });
    const result = await executor.execute('bash', { command });
    await executor.close();
    return result;
  };

  it.each(['rm -rf /', 'rm -rf /*', ':(){ :|:& };:', 'mkfs.ext4 /dev/sda1', 'dd if=/dev/zero of=/dev/sda'])(
    'are blocked all the same where they destroy the machine: %s (B012–B015)',
    async (command) => {
      const { success, error } = await run(command);
      expect(success).toBe(false);
      expect(error?.code).toBe('security_violation');
      expect(error?.message).toMatch(/blocked.*dangerous/i);
    },
  );

  it('run where they only look like it (B016–B018)', async () => {
    expect(await run('mkdir x && touch x/y && rm -rf ./x && ls')).toMatchObject({
      success: true,
      output: '',
    });
    expect((await run('echo "rm -rf /"')).output).toBe('rm -rf /\n');
    expect((await run('git --version')).output).toMatch(/^git version/);
    expect((await run('npm --version')).output).toMatch(/^\d+\./m);
  });
});

describe('rules in an executor', () => {
  it('lift the approval that a tool requires only when they match the arguments of every part', async () => {
    const run = async (command: string, rule: Omit<PolicyRule, 'decision'>) =>
      (await dispositionOf(runs(command), [{ decision: 'allow', ...rule }])).disposition;
    expect(await run('git status', { command: 'git status *' })).toBe('execute_now');
    expect(await run('git status; rm x', { command: 'git status *' })).toBe('requires_confirmation');
    expect(await run('git status', { tool: 'Shell' })).toBe('requires_confirmation');
  });

  it('see the canonical path: a link leads no allowing rule astray', async () => {
    const root = folder();
    for (const name of ['src', 'private']) mkdirSync(join(root, name));
    writeFileSync(join(root, 'private', 'x'), '');
    symlinkSync(join(root, 'private', 'x'), join(root, 'src', 'link'));
    const writes = (path: string) => touching('edit', [{ kind: 'write', path }]);
    const allow = [{ decision: 'allow', path: 'src/**' } as const];
    expect((await dispositionOf(writes('src/new'), allow, root)).disposition).toBe('execute_now');
    expect((await dispositionOf(writes('src/link'), allow, root)).disposition).toBe('requires_confirmation');
    const deny = [{ decision: 'deny', path: 'private' } as const];
    expect((await dispositionOf(writes('src/link'), deny, root)).code).toBe('policy_denied');
    const echo = [...allow, { decision: 'allow', command: 'echo *' } as const];
    expect((await dispositionOf(runs('echo a > src/new'), echo, root)).disposition).toBe('execute_now');
    expect((await dispositionOf(runs('echo a > src/link'), echo, root)).disposition).toBe(
      'requires_confirmation',
    );
    expect((await dispositionOf(runs('echo a > /etc/x'), echo, root)).disposition).toBe(
      'requires_confirmation',
    );
  });

  it('show what a command is seen to touch, and let nothing that the sandbox refuses run unasked', async () => {
    const root = folder();
    mkdirSync(join(root, 'sub'));
    symlinkSync('/etc', join(root, 'out'));
    const rules: PolicyRule[] = [{ decision: 'allow', command: ['cat *', 'touch *', 'PWD=sub touch *'] }];
    const plan = async (command: string, cwd?: string) => {
      const effect: Effect = { kind: 'run', command, shell: 'bash', ...(cwd === undefined ? {} : { cwd }) };
      const tool = touching('bash', [effect], { requiresApproval: true });
      const [call] = (
        await executorOf([tool], { policy: { rules }, root }).plan([{ id: '1', name: 'bash', args: {} }])
      ).calls;
      return { disposition: call?.disposition, reason: call?.reason, seen: call?.effects.slice(1) };
    };
    expect(await plan('cat a && touch b', 'sub')).toMatchObject({
      disposition: 'execute_now',
      seen: [
        { kind: 'read', path: 'sub/a' },
        { kind: 'write', path: 'sub/b' },
      ],
    });
    for (const [command, why] of [
      ['cat .env', '.env'],
      ['cat ~/.ssh/id_rsa', 'outside'],
      ['touch ../x', 'outside'],
      ['cat out/hosts', 'outside'],
      ['touch a id_rsa', 'id_rsa*'],
    ] as const) {
      const { disposition, reason } = await plan(command);
      expect(disposition, command).toBe('requires_confirmation');
      expect(reason).toContain(why);
    }
  });

  it('are named in the reason of the plan and of the refusal', async () => {
    const rules = [{ decision: 'deny', command: 'rm *' } as const];
    const planned = await dispositionOf(runs('ls; rm x'), rules);
    expect(planned).toMatchObject({ disposition: 'pre_resolved', code: 'policy_denied' });
    expect(planned.reason).toBe(
      'Run rm x is denied: it matches "rm *". The rule: deny command "rm *", rules[0].',
    );
  });

  it('that ask are not lifted by a review, nor is a command that is not understood', async () => {
    for (const command of ['asked', '$X']) {
      const policy = createPolicy(
        { mode: 'auto', rules: [{ decision: 'ask', command: 'asked' }] },
        { analyzeCommand: simpleAnalysis },
      );
      const tool = runs(command, { requiresApproval: false });
      const executor = executorOf([tool], { policy, reviewers: [() => ({ kind: 'allow' })] });
      expect((await executor.execute('shell', {})).error?.code).toBe('approval_unavailable');
    }
  });

  it('are asked after arguments and sandbox, and a blocked command is refused before all of them', async () => {
    const all = [{ decision: 'allow', path: '**' } as const, { decision: 'allow', command: '*' } as const];
    expect((await dispositionOf(touching('edit', [{ kind: 'write', path: '../x' }]), all)).code).toBe(
      'sandbox_violation',
    );
    const blocked = await dispositionOf(runs('DESTROY'), all);
    expect(blocked).toMatchObject({ code: 'security_violation' });
    expect(blocked.reason).toMatch(/blocked.*dangerous/);
  });

  it('can speak of the sub-agent that calls, of category and idempotence', async () => {
    const policy: PolicyOptions = {
      mode: 'auto',
      rules: [
        { decision: 'deny', agent: 'reviewer', side_effecting: true },
        { decision: 'deny', category: 'web', idempotent: false },
      ],
    };
    const write = touching('edit', [{ kind: 'write', path: 'a' }]);
    const web = touching('web', [], { category: 'web' });
    const again = touching('again', [], { category: 'web', idempotent: true });
    const executor = executorOf([write, web, again], { policy });
    const call = [{ id: '1', name: 'edit', args: {} }];
    expect((await executor.execute('edit', {})).success).toBe(true);
    expect((await executor.execute('edit', {}, { agent: 'reviewer' })).error?.code).toBe('policy_denied');
    expect((await executor.plan(call, { agent: 'reviewer' })).calls[0]?.disposition).toBe('pre_resolved');
    expect((await executor.execute('web', {})).error?.code).toBe('policy_denied');
    expect((await executor.execute('again', {})).success).toBe(true);
  });
});

describe('a policy that is a function', () => {
  it('is asked about every call, with all there is to know', async () => {
    const asked: PolicyQuestion[] = [];
    const root = folder();
    const executor = executorOf([touching('edit', [{ kind: 'write', path: 'a' }], { aliases: ['Edit'] })], {
      root,
      policy: (question) => {
        asked.push(question);
        return { disposition: 'pre_resolved', code: 'security_violation', reason: 'not today' };
      },
    });
    const { error } = await executor.execute('Edit', { some: 'thing' });
    expect(error).toMatchObject({ code: 'security_violation', message: 'not today' });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      name: 'edit',
      aliases: ['Edit'],
      sideEffecting: true,
      requiresApproval: false,
      sandboxViolation: false,
      effects: [{ kind: 'write', path: 'a' }],
      places: [{ at: join(root, 'a') }],
      roots: [root],
      args: { some: 'thing' },
    });
  });

  it('that throws refuses the call', async () => {
    const policy = (): PolicyAnswer => {
      throw new Error('broken');
    };
    const { error } = await executorOf([touching('edit', [])], { policy }).execute('edit', {});
    expect(error?.code).toBe('policy_denied');
  });
});

describe('onDecision', () => {
  it('sees every decision, even those by name alone, with name, arguments and answer (C035)', async () => {
    const seen: [ObservedQuestion, PolicyAnswer][] = [];
    const executor = executorOf([touching('edit', [{ kind: 'write', path: 'a' }]), touching('look', [])], {
      policy: { denylist: ['look'] },
      onDecision: (question, answer) => seen.push([question, answer]),
    });
    await executor.run([
      { id: '1', name: 'edit', args: { a: 1 } },
      { id: '2', name: 'look', args: { b: 2 } },
      { id: '3', name: 'edit', args: 'no object' as never },
    ]);
    expect(seen.map(([{ name, args }, { disposition, code }]) => [name, args, disposition, code])).toEqual([
      ['edit', { a: 1 }, 'requires_confirmation', undefined],
      ['look', { b: 2 }, 'pre_resolved', 'denylisted'],
    ]);
  });

  it('changes nothing by throwing, rejecting, or writing to what it is shown', async () => {
    const warned: unknown[] = [];
    const nothing = (): void => {};
    const logger = {
      debug: nothing,
      info: nothing,
      warn: (data: unknown) => warned.push(data),
      error: nothing,
    };
    const observers = [
      () => {
        throw new Error('observer broken');
      },
      async () => Promise.reject(new Error('observer broken')),
      (_question: ObservedQuestion, answer: PolicyAnswer) =>
        Object.assign(answer, { disposition: 'execute_now' }),
    ];
    for (const onDecision of observers) {
      const executor = executorOf([touching('edit', [{ kind: 'write', path: 'a' }])], { onDecision, logger });
      expect((await executor.execute('edit', {})).error?.code).toBe('approval_unavailable');
      await pause(5);
    }
    expect(warned).toHaveLength(observers.length);
  });

  it('is called even if no policy is set', async () => {
    const seen: string[] = [];
    const onDecision = (_question: ObservedQuestion, { disposition }: PolicyAnswer) => seen.push(disposition);
    await executorOf([touching('edit', [])], { policy: null, onDecision }).execute('edit', {});
    expect(seen).toEqual(['execute_now']);
  });
});

describe('rules about arguments', () => {
  const input = { type: 'object', properties: { repo: { type: 'string' } } } as const;
  const rule = (decision: 'allow' | 'deny'): PolicyRule => ({
    decision,
    tool: 'open_issue',
    args: { '/repo': 'sandbox-*' },
  });

  it('decide over calls, and over what a schema makes of their arguments', async () => {
    const trimmed = z.object({ repo: z.string().trim().default('sandbox-default') });
    const rest = {
      name: 'open_issue',
      description: 'd',
      effects: () => [{ kind: 'call', server: 'git', tool: 'open_issue', access: 'write' } as const],
      execute: () => 'opened',
    };
    const trimming = defineTool({ ...rest, input: trimmed });
    for (const tool of [defineTool({ ...rest, input }), trimming]) {
      const of = async (decision: 'allow' | 'deny', args: JsonObject) => {
        const mode = decision === 'allow' ? 'prompt' : 'auto';
        const { success, error } = await executorOf([tool], {
          policy: { mode, rules: [rule(decision)] },
        }).execute('open_issue', args);
        return success ? 'ran' : error?.code;
      };
      expect(await of('allow', { repo: 'sandbox-1' })).toBe('ran');
      expect(await of('allow', { repo: 'prod' })).toBe('approval_unavailable');
      expect(await of('allow', {})).toBe('approval_unavailable');
      expect(await of('deny', { repo: 'sandbox-1' })).toBe('policy_denied');
      expect(await of('deny', { repo: 'prod' })).toBe('ran');
      expect(await of('deny', {})).toBe('policy_denied');
      // The spaces hide the value until the schema removes them, or the pattern does not match it at all.
      expect(await of('deny', { repo: ' sandbox-1' })).toBe(tool === trimming ? 'policy_denied' : 'ran');
      expect(await of('allow', { repo: 'sandbox-1 ' })).toBe('ran');
    }
  });

  it('are found wrong when the executor is made, with the rule and the argument', () => {
    expect(() => executorOf([], { policy: { rules: [{ ...rule('deny'), args: { repo: 'x' } }] } })).toThrow(
      'Policy rules[0].args has "repo" with "x": expected a JSON pointer to an argument',
    );
  });
});
