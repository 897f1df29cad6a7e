import { describe, expect, it } from 'vitest';
import type { AgentRunner } from '../../contract/agent-runner.js';
import type { ApprovalRequest, Approver } from '../../contract/approval.js';
import type { Clock } from '../../contract/context.js';
import type { Executor } from '../../contract/executor.js';
import type { JsonObject } from '../../contract/json.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { folder } from '../fixtures/plan-fixture.js';

const TASK = { prompt: 'do it', description: 'd', subagent_type: 'tester' };
const yes: Approver = () => ({ kind: 'approve_all' });

function open(agents: AgentRunner, options: ExecutorOptions = {}): Executor {
  return createExecutor({ root: folder(), agents, approver: yes, journal: false, ...options });
}

/** A sub-agent that makes one call, and answers with its result. */
function calling(name: string, args: JsonObject): AgentRunner {
  return async (_, { executor, id }) => {
    const result = await executor.execute(name, args, { conversation: id });
    return { text: result.error?.code ?? result.output };
  };
}

describe('task', () => {
  it('is there where agents are given, always asks, and gives the answer of the runner', async () => {
    const names = (executor: Executor) => executor.definitions().map(({ name }) => name);
    const executor = open((task) => ({ text: `out of ${task.prompt}` }));
    expect(names(executor)).toContain('task');
    expect(names(createExecutor({ root: folder(), journal: false }))).not.toContain('task');
    const plan = await executor.plan([{ id: '1', name: 'task', args: TASK }]);
    expect(plan.calls[0]?.disposition).toBe('requires_confirmation');
    const { output, metadata } = await executor.execute('task', TASK);
    expect(output).toBe('out of do it');
    expect(metadata).toMatchObject({ subagent_type: 'tester', description: 'd' });
    expect(metadata.agent_id).toMatch(/^agent_/);
    expect(typeof metadata.duration).toBe('number');
  });

  it('shows what the runner reports while it works', async () => {
    const executor = open(async (_, { emit }) => {
      await emit('reading\n');
      return { text: 'done' };
    });
    const run = executor.start([{ id: '1', name: 'task', args: TASK }]);
    const chunks: string[] = [];
    for await (const event of run.events) if (event.type === 'stdout') chunks.push(event.chunk);
    expect(chunks.join('')).toContain('reading');
  });

  it('has the tools of its parent that it is given, and no other', async () => {
    const seen: string[][] = [];
    const runner: AgentRunner = async (_, { executor }) => {
      seen.push(executor.definitions().map(({ name }) => name));
      return { text: (await executor.execute('bash', { command: 'true' })).error?.code ?? 'ran' };
    };
    const executor = open(runner);
    expect((await executor.execute('task', { ...TASK, tools: ['read_file', 'glob'] })).output).toBe(
      'unknown_tool',
    );
    expect(seen).toEqual([['glob', 'read_file']]);
    const { error } = await executor.execute('task', { ...TASK, tools: ['fly'] });
    expect(error?.message).toContain('Unknown tool "fly"');
  });

  it('may not do what its parent may not do', async () => {
    const write = { path: 'a', content: 'b' };
    const denied = open(calling('write_file', write), {
      policy: { rules: [{ decision: 'deny', tool: 'write_file', agent: 'main' }] },
    });
    expect((await denied.execute('task', TASK)).output).toBe('policy_denied');
    const denylisted = open(calling('run_command', { command: 'true' }));
    expect((await denylisted.execute('task', TASK)).output).toBe('denylisted');
    const outside = open(calling('read_file', { path: '/etc/passwd' }));
    expect((await outside.execute('task', TASK)).output).toBe('sandbox_violation');
  });

  it('asks the approver of its parent, and names the sub-agent', async () => {
    const asked: ApprovalRequest[] = [];
    const approver: Approver = (requests) => {
      asked.push(...requests);
      return requests[0]?.toolName === 'task' ? { kind: 'approve_all' } : { kind: 'deny_all' };
    };
    const executor = open(calling('write_file', { path: 'a', content: 'b' }), { approver: null });
    const [result] = await executor.run([{ id: '1', name: 'task', args: TASK }], { approver });
    expect(result?.output).toBe('user_denied');
    expect(asked.map(({ toolName, agent }) => [toolName, agent])).toEqual([
      ['task', undefined],
      ['write_file', 'tester'],
    ]);
  });

  it('has five below it at most; the deepest is not shown the tool', async () => {
    let deepest = 0;
    let shown: readonly string[] = [];
    const runner: AgentRunner = async (_, { executor, depth }) => {
      deepest = Math.max(deepest, depth);
      shown = executor.definitions().map(({ name }) => name);
      const inner = await executor.execute('task', TASK);
      return { text: inner.error?.message ?? inner.output };
    };
    const { output } = await open(runner).execute('task', TASK);
    expect([deepest, output]).toEqual([5, expect.stringContaining('max agent depth (5) exceeded')]);
    expect(shown).not.toContain('task');
  });

  it('is stopped after its time, in which waiting for the person does not count', async () => {
    const slow: AgentRunner = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { error } = await open(slow).execute('task', { ...TASK, timeout: 30 });
    expect(error?.code).toBe('timeout');
  });

  it('has a time limit that pauses while the person is asked', async () => {
    const running = new Set<number>();
    let delays: readonly number[] | undefined;
    const clock: Clock = {
      now: Date.now,
      monotonic: () => performance.now(),
      after(delayMs, callback) {
        const timer = setTimeout(callback, delayMs);
        running.add(delayMs);
        return () => {
          clearTimeout(timer);
          running.delete(delayMs);
        };
      },
    };
    const approver: Approver = (requests) => {
      if (requests[0]?.agent !== undefined) delays = [...running];
      return { kind: 'approve_all' };
    };
    const agents = calling('write_file', { path: 'a', content: 'b' });
    const executor = open(agents, { approver, clock });
    expect((await executor.execute('task', { ...TASK, timeout: 777_777 })).error).toBeUndefined();
    expect(delays).toBeDefined();
    expect(delays?.filter((ms) => ms > 700_000 && ms <= 777_777)).toEqual([]);
  });

  it('ends with its parent, and what its runner does afterwards runs nothing', async () => {
    let left: Executor | undefined;
    const runner: AgentRunner = (_, { executor }) => {
      left = executor;
      return new Promise(() => {});
    };
    const executor = open(runner);
    const run = executor.start([{ id: '1', name: 'task', args: TASK }]);
    for await (const event of run.events) if (event.type === 'started') setTimeout(() => run.cancel(), 20);
    const [result] = await run.results;
    expect(result?.error?.code).toBe('cancelled');
    await expect(left?.execute('glob', { pattern: '*' })).rejects.toMatchObject({ code: 'cancelled' });
    expect((await executor.execute('glob', { pattern: '*' })).success).toBe(true);
  });

  it('runs nothing in a dry run, and fails where no sub-agents are', async () => {
    const never: AgentRunner = () => {
      throw new Error('it ran');
    };
    const [dry] = await open(never).run([{ id: '1', name: 'task', args: TASK }], { dryRun: true });
    expect(dry?.output).toBe('[Dry Run] Start sub-agent tester: d');
    const bare = createExecutor({
      tools: builtinTools({ agents: true }),
      root: folder(),
      approver: null,
      journal: false,
    });
    expect((await bare.execute('task', TASK)).error?.message).toContain('no sub-agents');
  });

  it.each([{ prompt: 1, description: 'd' }, { prompt: 'x' }, { prompt: 'x', description: '' }])(
    'refuses %j',
    async (args) => {
      const { error } = await open(() => ({ text: '' })).execute('task', args);
      expect(error?.code).toBe('bad_args');
    },
  );
});
