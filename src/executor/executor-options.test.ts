import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isToolError } from '../errors/tool-error.js';
import { createExecutor } from './create-executor.js';
import type { ExecutorOptions } from './executor-options.js';
import { countingTool, executorOf, folder } from './fixtures/plan-fixture.js';

function refusal(options: unknown): string {
  try {
    createExecutor(options as ExecutorOptions);
  } catch (error) {
    if (isToolError(error, 'config_invalid')) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('createExecutor()', () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['options', null],
    ['options', []],
    ['options', 'x'],
    ['options.rot', { rot: '.' }],
    ['options.__proto__', JSON.parse('{"__proto__":1}')],
    ['root', { root: [] }],
    ['root', { root: 7 }],
    ['root', { root: '' }],
    ['root', { root: '/does/not/exist' }],
    ['mode', { mode: 'Enabled' }],
    ['mode', { mode: '' }],
    ['tools', { tools: 'bash' }],
    ['tools', { tools: {} }],
    ['policy', { policy: 'auto' }],
    ['policy', { policy: { decide: 'yes' } }],
    ['mode', { policy: { mode: 'ask' } }],
    ['allowlst', { policy: { allowlst: [] } }],
    ['denylist', { policy: { denylist: 'bash' } }],
    ['limits', { limits: null }],
    ['limits.maxCalls', { limits: { maxCalls: 1 } }],
    ['limits.maxToolCallsPerBatch', { limits: { maxToolCallsPerBatch: 0 } }],
    ['limits.maxToolArgsBytes', { limits: { maxToolArgsBytes: 1.5 } }],
    ['limits.maxToolArgsBytes', { limits: { maxToolArgsBytes: '256KB' } }],
    ['timeouts.defaultMs', { timeouts: { defaultMs: 0 } }],
    ['timeouts.defaultMs', { timeouts: { defaultMs: Number.POSITIVE_INFINITY } }],
    ['timeouts.default', { timeouts: { default: 1 } }],
    ['output.maxBytes', { output: { maxBytes: -1 } }],
    ['output.maxBytes', { output: { maxBytes: Number.NaN } }],
    ['environment.pass', { environment: { pass: 'PATH' } }],
    ['sandbox.allowAbsolute', { sandbox: { allowAbsolute: 'yes' } }],
    ['hardLinks', { root: { path: '.', hardLinks: 'no' } }],
    ['roots', { root: [{}] }],
    ['sandbox.hardLinks', { sandbox: { hardLinks: 'no' } }],
    ['sandbox.deniedPatterns', { sandbox: { deniedPatterns: [7] } }],
    ['reviewers', { reviewers: () => ({ kind: 'pass' }) }],
    ['middleware', { middleware: [null] }],
    ['approver', { approver: 'me' }],
    ['journal', { journal: '' }],
    ['journal', { journal: true }],
    ['journal', { journal: {} }],
    ['logger', { logger: {} }],
    ['clock', { clock: { now: () => 0 } }],
  ];
  it.each(wrong)('names a wrong %s', (name, options) => {
    expect(refusal(options)).toContain(name);
  });

  it('refuses a root that is a file', () => {
    const path = join(folder(), 'file');
    writeFileSync(path, '');
    expect(refusal({ root: path })).toContain('not a directory');
  });

  it('takes no options at all, and options that are undefined', () => {
    for (const options of [undefined, {}, { limits: undefined, policy: undefined, approver: undefined }]) {
      expect(createExecutor(options as ExecutorOptions).definitions().length).toBeGreaterThan(0);
    }
  });

  it('does not look at its options again', async () => {
    const { tool } = countingTool();
    const options = { root: folder(), tools: [tool], policy: { denylist: [] as string[] } };
    const executor = executorOf(options.tools, options);
    options.policy.denylist.push('count');
    options.tools.length = 0;
    expect((await executor.execute('count', {})).success).toBe(true);
  });
});

describe('RunOptions', () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['options', null],
    ['dryRn', { dryRn: true }],
    ['dryRun', { dryRun: 1 }],
    ['signal', { signal: {} }],
    ['conversation', { conversation: '' }],
    ['conversation', { conversation: 7 }],
    ['again', { again: 'yes' }],
    ['failFast', { failFast: 'yes' }],
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['parallel', { parallel: 'yes' }],
    ['availableCapacityBytes', { availableCapacityBytes: -1 }],
    ['availableCapacityBytes', { availableCapacityBytes: Number.NaN }],
    ['approver', { approver: {} }],
  ];
  it.each(wrong)('names a wrong %s before anything happens', async (name, options) => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool]);
    const calls = [{ id: 'a', name: 'count', args: {} }];
    const expected = { code: 'config_invalid', message: expect.stringContaining(name) };
    await expect(executor.run(calls, options as never)).rejects.toMatchObject(expected);
    await expect(executor.plan(calls, options as never)).rejects.toMatchObject(expected);
    await expect(executor.execute('count', {}, options as never)).rejects.toMatchObject(expected);
    expect(() => executor.start(calls, options as never)).toThrow(name);
    expect(runs).toEqual([]);
  });

  it.each([[null], [undefined], [{}], ['x']])('refuses %j in place of calls', async (calls) => {
    await expect(executorOf([]).run(calls as never)).rejects.toMatchObject({ code: 'bad_args' });
  });
});

describe('the defaults of the policy', () => {
  it('read at once, ask before writing and before commands, and deny run_command', async () => {
    const executor = createExecutor({ root: folder(), sandbox: { os: 'off' } });
    const calls = [
      { id: '1', name: 'read_file', args: { path: 'a' } },
      { id: '2', name: 'list_directory', args: { path: '.' } },
      { id: '3', name: 'write_file', args: { path: 'a', content: 'x' } },
      { id: '4', name: 'bash', args: { command: 'ls' } },
      { id: '5', name: 'run_command', args: { command: 'ls' } },
    ];
    const plan = await executor.plan(calls);
    expect(plan.calls.map(({ disposition, risk }) => [disposition, risk])).toEqual([
      ['execute_now', 'low'],
      ['execute_now', 'low'],
      ['requires_confirmation', 'medium'],
      ['requires_confirmation', 'high'],
      ['pre_resolved', expect.any(String)],
    ]);
    expect(plan.calls[4]?.result?.error?.code).toBe('denylisted');
  });

  it.each(['auto', 'prompt', 'deny'] as const)(
    'in mode %s still ask for a listed run_command',
    async (mode) => {
      const policy = { mode, denylist: [], allowlist: ['run_command'] };
      const executor = createExecutor({ root: folder(), policy, sandbox: { os: 'off' } });
      const { calls } = await executor.plan([{ id: '1', name: 'run_command', args: { command: 'ls' } }]);
      expect(calls[0]).toMatchObject({ disposition: 'requires_confirmation', risk: 'high' });
    },
  );
});
