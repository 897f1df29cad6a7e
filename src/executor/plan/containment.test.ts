import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ObservedQuestion, PolicyQuestion } from '../../contract/policy.js';
import type { PolicyRule } from '../../policy/rules/policy-rule.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { folder } from '../fixtures/plan-fixture.js';

const RULES: readonly PolicyRule[] = [
  { decision: 'allow', command: ['git branch *', 'cat *', 'grep *', 'rg *', 'ls *', 'touch *'] },
  { decision: 'allow', command: 'sort *', write_through: true },
];

function makeRoot(): string {
  const root = folder();
  for (const name of ['open', 'closed', 'odd']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'open', 'a.txt'), 'x');
  writeFileSync(join(root, 'closed', 'a.txt'), 'x');
  writeFileSync(join(root, 'closed', '.env'), 'SECRET=1');
  writeFileSync(join(root, 'odd', '--pre=evil'), 'x');
  symlinkSync('../closed/.env', join(root, 'open', 'link'));
  return root;
}

/** The plan for each command line. */
async function plan(
  commands: readonly (string | object)[],
  options: Partial<ExecutorOptions> & { readonly rules?: readonly PolicyRule[] } = {},
): Promise<(string | undefined)[]> {
  const { rules = RULES, ...more } = options;
  const executor = createExecutor({ root: makeRoot(), journal: false, policy: { rules }, ...more });
  const calls = commands.map((command, at) => ({
    id: `c${at}`,
    name: 'bash',
    args: typeof command === 'string' ? { command } : { ...command },
  }));
  const planned = await executor.plan(calls);
  await executor.close();
  return planned.calls.map(({ disposition }) => disposition);
}

const RUNS = 'execute_now';
const ASKS = 'requires_confirmation';

describe('a rule that allows a command', () => {
  it('covers any words where the command runs in a transaction, and what it spells elsewhere', async () => {
    expect(await plan(['git branch -D x', 'git branch x', 'git branch -a'])).toEqual([RUNS, RUNS, RUNS]);
    const plain = { sandbox: { os: 'off' } } as const;
    expect(await plan(['git branch -D x', 'git branch x', 'git branch -a'], plain)).toEqual([
      ASKS,
      RUNS,
      RUNS,
    ]);
    const through = { sandbox: { transactions: 'off' } } as const;
    expect(await plan(['git branch -D x', 'git branch -a'], through)).toEqual([ASKS, RUNS]);
  });

  it('covers what it spells of a background shell, and of a rule that writes through', async () => {
    const background = { command: 'git branch -D x', run_in_background: true };
    expect(await plan([background, 'sort a -o b', 'sort a'])).toEqual([ASKS, ASKS, RUNS]);
  });

  it('is a question that a policy function gets once, with the containment', async () => {
    const asked: PolicyQuestion[] = [];
    const seen: ObservedQuestion[] = [];
    const decide = (question: PolicyQuestion) => {
      asked.push(question);
      return { disposition: 'execute_now', reason: 'Fine.' } as const;
    };
    await plan(['ls', 'ls -l'], { policy: decide, onDecision: (question) => void seen.push(question) });
    expect(asked.map(({ transaction }) => transaction)).toEqual([true, true]);
    expect(seen).toHaveLength(2);
  });

  it('is reported once to an observer, even if two answers are compared', async () => {
    const seen: ObservedQuestion[] = [];
    await plan(['git branch -D x'], { onDecision: (question) => void seen.push(question) });
    expect(seen.map(({ transaction }) => transaction)).toEqual([true]);
  });
});

describe('a command that would see hidden files', () => {
  const plain = { sandbox: { os: 'off' } } as const;

  it('asks if a wildcard matches one, in a sandbox or not', async () => {
    const commands = ['cat closed/.e[n]v', 'cat < closed/.en?', 'cat closed/*', 'cat open/*', 'cat open/a*'];
    expect(await plan(commands, plain)).toEqual([ASKS, ASKS, RUNS, ASKS, RUNS]);
    expect(await plan(commands)).toEqual([ASKS, ASKS, RUNS, ASKS, RUNS]);
  });

  it('asks where a program walks to one by itself, unless the sandbox hides it', async () => {
    const commands = ['grep -r x', 'grep -r x closed', 'rg x', 'rg x open', 'ls -R', 'cat open/a.txt | rg x'];
    expect(await plan(commands, plain)).toEqual([ASKS, ASKS, ASKS, RUNS, RUNS, RUNS]);
    expect(await plan(commands)).toEqual([RUNS, RUNS, RUNS, RUNS, RUNS, RUNS]);
    const through = { sandbox: { transactions: 'off' } } as const;
    expect(await plan(commands, through)).toEqual([RUNS, RUNS, RUNS, RUNS, RUNS, RUNS]);
  });

  it('asks if a wildcard matches a name that is an option', async () => {
    expect(
      await plan(['cd odd && rg x *', 'rg x odd/*', 'rg x open/a*'], {
        ...plain,
        rules: [...RULES, { decision: 'allow', command: 'cd *' }],
      }),
    ).toEqual([ASKS, ASKS, RUNS]);
  });
});
