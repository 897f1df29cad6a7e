import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import { countingTool, executorOf } from '../fixtures/plan-fixture.js';

const call = (args: unknown, id: string, name: string): ToolCall =>
  ({ id, name, args }) as unknown as ToolCall;

describe('modes', () => {
  it('disabled shows no tools and runs nothing', async () => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool], { mode: 'disabled' });
    expect(executor.definitions()).toEqual([]);
    const [result] = await executor.run([call({}, 'a', 'count')]);
    expect(result).toMatchObject({ success: false, error: { code: 'tools_disabled' }, metadata: {} });
    expect(runs).toEqual([]);
  });

  it('parse_only shows the tools, and says that the calls are pending', async () => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool], { mode: 'parse_only' });
    expect(executor.definitions()).toHaveLength(1);
    const [result] = await executor.run([call({}, 'a', 'count')]);
    expect(result).toMatchObject({ error: { code: 'tools_disabled' }, metadata: { pending: true } });
    expect(runs).toEqual([]);
  });

  it('enabled shows exactly what is registered, in byte order, the same every time', () => {
    const tools = ['b', 'a', 'C'].map((name) => countingTool(name).tool);
    const executor = executorOf(tools);
    expect(executor.definitions().map(({ name }) => name)).toEqual(['C', 'a', 'b']);
    expect(JSON.stringify(executor.definitions())).toBe(
      JSON.stringify(executorOf([...tools].reverse()).definitions()),
    );
  });
});

describe('refusals', () => {
  it('show nothing of what a model wrote but clean text', async () => {
    const name = 'x\u001b[2J\u202e';
    const token = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    const executor = executorOf([countingTool().tool]);
    const calls = [call({}, 'a', name), call({ [token]: 1n }, 'b', 'count')];
    const { calls: planned } = await executor.plan(calls);
    const results = await executor.run(calls);
    for (const text of [
      ...planned.map(({ reason }) => reason),
      ...results.map(({ error }) => error?.message),
    ]) {
      expect(text).not.toMatch(/[\u001b\u202e]/);
      expect(text).not.toContain(token);
    }
  });

  it('keep to the limit of the output', async () => {
    const { tool } = countingTool();
    const executor = executorOf([tool], { output: { maxBytes: 60 } });
    const [result] = await executor.run([call({}, 'a', `ghost${'x'.repeat(70)}`)]);
    expect(Buffer.byteLength(result?.error?.message ?? '')).toBeLessThanOrEqual(60);
    expect(result?.truncated).toBe(true);
  });
});
