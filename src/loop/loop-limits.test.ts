import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Executor } from '../contract/executor.js';
import { createExecutor } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { createScriptedModel, type ScriptedModel } from '../testing/create-scripted-model.js';
import type { LoopResult, ToolLoopOptions } from './loop-contract.js';
import { createToolLoop, modelAgents } from './tool-loop.js';

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-limits-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function open(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root: folder(), approver: null, policy: null, ...options });
  onTestFinished(() => executor.close());
  return executor;
}

async function turn(
  model: ScriptedModel,
  options: Partial<ToolLoopOptions> = {},
  world: ExecutorOptions = {},
): Promise<LoopResult> {
  return createToolLoop({ executor: open(world), model, ...options }).run('go');
}

const write = (path: string) => ({ name: 'write_file', args: { path, content: path } });
const usage = { inputTokens: 60, outputTokens: 40 };

describe('what is submitted in mode parse_only', () => {
  async function submitted(
    output: string,
    { success = true, ...world }: ExecutorOptions & { readonly success?: boolean } = {},
    options: Partial<ToolLoopOptions> = {},
  ) {
    const model = createScriptedModel([{ calls: [{ id: 'one', name: 'look', args: {} }] }, { text: 'ok' }]);
    const loop = createToolLoop({ executor: open({ mode: 'parse_only', ...world }), model, ...options });
    for await (const event of loop.stream('go')) {
      if (event.type === 'state' && event.state.kind === 'waiting') loop.submit('one', { output, success });
      if (event.type === 'end')
        return { result: event.result.results[0], sent: model.requests[1]?.messages[2] };
    }
    throw new Error('a turn ends with an end');
  }

  it('is redacted and cleaned like any output, on its way to the model and in a failure too', async () => {
    const key = `AKIA${'ABCDEFGHIJ234567'}`;
    const { result, sent } = await submitted(`key ${key}\u001b[2J`);
    expect(result).toMatchObject({ success: true, metadata: { submitted: true } });
    expect(result?.output).not.toMatch(/AKIAABC|\u001b/);
    expect(JSON.stringify(sent)).not.toContain(key);
    const failed = await submitted(`no: ${key}`, { success: false });
    expect(failed.result?.error).toMatchObject({ code: 'execution_failed', details: { executed: 'maybe' } });
    expect(JSON.stringify(failed)).not.toContain(key);
  });

  it('is cut at the limit of an output, and at what the context can still take', async () => {
    const long = 'x'.repeat(5_000);
    const cut = await submitted(long, { output: { maxBytes: 1_000 } });
    expect(cut.result?.truncated).toBe(true);
    expect(Buffer.byteLength(cut.result?.output ?? '')).toBeLessThanOrEqual(1_000);
    const fitted = await submitted(long, {}, { contextTokens: 500 });
    expect(fitted.result?.truncated).toBe(true);
    expect(Buffer.byteLength(fitted.result?.output ?? '')).toBeLessThan(2_000);
  });
});

describe('a budget of tokens', () => {
  it('ends the batches of a turn; the model is told once, and may still answer', async () => {
    const root = folder();
    const model = createScriptedModel([
      { calls: [write('a')], usage },
      { calls: [write('b')], usage },
      { text: 'as far as I got', usage },
    ]);
    const result = await turn(model, { maxTokensPerUserTurn: 150 }, { root });
    expect(result).toMatchObject({ stopReason: 'max_tokens', text: 'as far as I got', iterations: 1 });
    expect(result.results[1]?.error).toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('150 tokens'),
      details: { executed: 'no' },
    });
    expect([existsSync(join(root, 'a')), existsSync(join(root, 'b'))]).toEqual([true, false]);
  });

  it('is estimated where the provider counts nothing', async () => {
    const model = createScriptedModel([{ calls: [write('a')] }, { text: 'enough' }]);
    expect(await turn(model, { maxTokensPerUserTurn: 10 })).toMatchObject({
      stopReason: 'max_tokens',
      iterations: 0,
    });
  });

  it('of a sub-agent is its own: it fails with its partial answer, and its parent continues', async () => {
    const model = createScriptedModel([
      { calls: [{ name: 'task', args: { prompt: 'p', description: 'd' } }], usage },
      { calls: [write('a')], usage },
      { calls: [write('b')], usage },
      { text: 'half', usage },
      { text: 'then not', usage },
    ]);
    const agents = modelAgents({ model, maxTokens: 200 });
    const { results, text } = await turn(model, {}, { agents });
    expect(text).toBe('then not');
    expect(results[0]).toMatchObject({
      output: 'half',
      error: { message: expect.stringContaining('budget of tokens') },
      metadata: { input_tokens: 180, output_tokens: 120, iterations: 1 },
    });
  });
});

describe('ids that a server counts from the start in every response', () => {
  it('name new calls, even after a response that was cut, and in a later process', async () => {
    const world = { root: folder(), journal: join(folder(), 'journal.db') };
    const cut = { calls: [{ ...write('a'), id: 'c0' }], failure: new Error('cut') };
    await turn(createScriptedModel([cut]), { conversation: 'c' }, world);
    const model = createScriptedModel([{ calls: [{ ...write('b'), id: 'c0' }] }, { text: 'written' }]);
    const { results } = await turn(model, { conversation: 'c' }, world);
    expect(results).toMatchObject([{ callId: 'c0', success: true }]);
    expect([existsSync(join(world.root, 'a')), existsSync(join(world.root, 'b'))]).toEqual([false, true]);
  });
});

describe('options of a batch', () => {
  it('failFast cancels what is left after a failure', async () => {
    const model = createScriptedModel([{ calls: [write('../out'), write('b')] }, { text: 'ok' }]);
    const { results } = await turn(model, { failFast: true });
    expect(results.map(({ error }) => error?.code)).toEqual(['sandbox_violation', 'cancelled']);
  });

  it('defer lets calls wait; approved later, their results stand in the conversation', async () => {
    const approver = () => ({ kind: 'approve_all' }) as const;
    const policy = { promptSideEffects: true };
    const world = { root: folder(), journal: join(folder(), 'journal.db'), approver, policy };
    const first = createScriptedModel([{ calls: [write('a')] }, { text: 'it waits' }]);
    const options = { conversation: 'c', defer: true } as const;
    const { results } = await turn(first, options, world);
    expect(results[0]).toMatchObject({
      error: { code: 'approval_unavailable' },
      metadata: { pending: true },
    });
    const answers = async (): Promise<unknown> => {
      const model = createScriptedModel([{ text: 'so' }]);
      await turn(model, { conversation: 'c' }, world);
      return model.requests[0]?.messages[2];
    };
    expect(await answers()).toMatchObject({ results: [{ error: { code: 'approval_unavailable' } }] });
    const person = open(world);
    const [batch] = await person.waiting({ conversation: 'c' });
    await (await person.approve(batch?.batchId ?? '')).results;
    await person.close();
    expect(existsSync(join(world.root, 'a'))).toBe(true);
    expect(await answers()).toMatchObject({ results: [{ success: true }] });
  });
});
