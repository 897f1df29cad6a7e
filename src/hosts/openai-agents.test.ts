import {
  Agent,
  type AgentOutputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  RunState,
  RunToolCallOutputItem,
  Usage,
} from '@openai/agents';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../contract/executor.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import { approveFirst, asksFirst, type HostWorld, hostWorld, slowFirst } from './fixtures/host-world.js';
import { agentTools } from './openai-agents.js';

let world: HostWorld;
beforeEach(() => {
  world = hostWorld();
});

/** Calls one tool (or several times the same one), then ends. It records its requests. */
class OneCall implements Model {
  readonly sent: string[] = [];
  readonly call: { readonly name: string; readonly args: unknown; readonly callIds: readonly string[] };

  constructor(name: string, args: unknown, ...callIds: readonly string[]) {
    this.call = { name, args, callIds: callIds.length === 0 ? ['c1'] : callIds };
  }

  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    this.sent.push(JSON.stringify(input));
    const { name, args, callIds } = this.call;
    const isAnswered = this.sent.at(-1)?.includes('function_call_result') === true;
    const call = { type: 'function_call', name, arguments: JSON.stringify(args) } as const;
    const said: AgentOutputItem = {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'done' }],
    };
    return {
      usage: new Usage(),
      output: isAnswered ? [said] : callIds.map((callId) => ({ ...call, callId })),
    };
  }

  getStreamedResponse(): AsyncIterable<never> {
    throw new Error('not streamed');
  }
}

const runner = new Runner({ tracingDisabled: true });

function agentOf(executor: Executor, model: Model) {
  return new Agent({ name: 'a', model, tools: agentTools(executor, { conversation: 'chat' }) });
}

/** Runs until the question, and returns the state as text. */
async function interrupted(model: Model): Promise<string> {
  await using executor = world.executor();
  const { interruptions, state } = await runner.run(agentOf(executor, model), 'go');
  expect(interruptions).toMatchObject([{ rawItem: { callId: 'c1', name: 'remove' } }]);
  return state.toString();
}

/** Another process continues the state with the person's answer. */
async function resumed(text: string, model: Model, isApproved = true) {
  await using executor = world.executor();
  const agent = agentOf(executor, model);
  const state = await RunState.fromString(agent, text);
  for (const item of state.getInterruptions()) {
    if (isApproved) state.approve(item);
    else state.reject(item);
  }
  return await runner.run(agent, state);
}

describe('agentTools() in an agent of OpenAI’s SDK', () => {
  it('interrupts, and an approved state that is resumed twice has one effect', async () => {
    const model = new OneCall('remove', { what: 'x' });
    const text = await interrupted(model);
    expect(world.removed()).toEqual([]);
    for (const _ of [1, 2]) {
      await resumed(text, model);
      expect(model.sent.at(-1)).toContain('removed x');
    }
    expect(world.removed()).toEqual(['c1 x']);
  });

  it('runs conflicting calls of a step in order (the first to be planned ran first)', async () => {
    await using executor = world.executor({ reviewers: [slowFirst] });
    await runner.run(agentOf(executor, new OneCall('enter', { what: 'x' }, 'c1', 'c2', 'c3')), 'go');
    expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('runs conflicting calls of a step in order, also after one that was approved elsewhere', async () => {
    await using executor = world.executor({ reviewers: [asksFirst] });
    await approveFirst(executor, 'enter', { what: 'x' });
    await runner.run(agentOf(executor, new OneCall('enter', { what: 'x' }, 'c1', 'c2', 'c3')), 'go');
    expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('runs nothing that the person rejected', async () => {
    const model = new OneCall('remove', { what: 'x' });
    await resumed(await interrupted(model), model, false);
    expect(world.removed()).toEqual([]);
    expect(model.sent.at(-1)).toContain('not approved');
  });

  it('runs nothing whose files have changed since the question, however often the approval is sent (it ran at once)', async () => {
    await using executor = world.executor({ reviewers: [asksFirst] });
    const model = new OneCall('enter', { what: 'x' });
    const agent = agentOf(executor, model);
    const { interruptions, state } = await runner.run(agent, 'go');
    for (const item of interruptions) state.approve(item);
    const text = state.toString();
    world.changeBook();
    for (const _ of [1, 2]) {
      await runner.run(agent, await RunState.fromString(agent, text));
      expect(model.sent.at(-1)).toContain('its files have changed');
    }
    expect(world.removed()).toEqual([]);
  });

  it('runs nothing where the state has other arguments than those that were asked about', async () => {
    const model = new OneCall('remove', { what: 'x' });
    const text = (await interrupted(model)).replaceAll('\\"x\\"', '\\"FORGED\\"');
    expect(text).toContain('FORGED');
    await resumed(text, model).catch(() => {});
    expect(world.removed()).toEqual([]);
  });

  it('runs nothing for an approval that was never asked for, and none for all later calls', async () => {
    const text = await interrupted(new OneCall('remove', { what: 'x' }));
    await using executor = world.executor();
    const model = new OneCall('remove', { what: 'other' }, 'c2');
    const agent = agentOf(executor, model);
    const state = await RunState.fromString(agent, text);
    for (const item of state.getInterruptions()) state.approve(item, { alwaysApprove: true });
    await runner.run(agent, state);
    expect(world.removed()).toEqual(['c1 x']);
    await runner.run(agent, 'again', { context: state._context });
    expect(model.sent.at(-1)).toContain('never asked for');
    expect(world.removed()).toEqual(['c1 x']);
  });

  it('runs nothing where needsApproval was replaced', async () => {
    await using executor = world.executor();
    const model = new OneCall('remove', { what: 'x' });
    const [, , , remove] = agentTools(executor, { conversation: 'chat' });
    const forgetful = { ...(remove as NonNullable<typeof remove>), needsApproval: async () => false };
    const { finalOutput } = await runner.run(new Agent({ name: 'a', model, tools: [forgetful] }), 'go');
    expect(finalOutput).toBe('done');
    expect(model.sent.at(-1)).toContain('Not run yet');
    expect(world.removed()).toEqual([]);
  });

  it('marks a failed call as failed in the trace, and the model reads message and output', async () => {
    await using executor = world.executor();
    const model = new OneCall('fail', {});
    const spans: unknown[] = [];
    const processor = {
      onTraceStart: async () => {},
      onTraceEnd: async () => {},
      onSpanStart: async () => {},
      onSpanEnd: async (span: { error: unknown }) => void spans.push(span.error),
      shutdown: async () => {},
      forceFlush: async () => {},
    };
    const { setTraceProcessors, setTracingDisabled } = await import('@openai/agents');
    setTraceProcessors([processor]);
    setTracingDisabled(false);
    await new Runner().run(agentOf(executor, model), 'go');
    expect(model.sent.at(-1)).toContain('Error: it broke\\n\\nthe log');
    expect(JSON.stringify(spans)).toContain('it broke');
  });

  it('answers wrong arguments in words that the model reads', async () => {
    await using executor = world.executor();
    const model = new OneCall('remove', { what: 7 });
    await runner.run(agentOf(executor, model), 'go');
    expect(model.sent.at(-1)).toMatch(/Error: .*what/);
  });

  it('gives the model the pictures of a result', async () => {
    await using executor = world.executor();
    const model = new OneCall('look', {});
    const { newItems } = await runner.run(agentOf(executor, model), 'go');
    const [output] = newItems.filter((item) => item instanceof RunToolCallOutputItem);
    expect(output?.rawItem).toMatchObject({ output: [{ type: 'input_image' }] });
    expect(model.sent.at(-1)).toContain('data:image/png;base64,AQI=');
  });

  it('stops a call when the run is aborted', async () => {
    await using executor = world.executor();
    const options = { signal: world.abortsNextLook() };
    await runner.run(agentOf(executor, new OneCall('look', {})), 'go', options).catch(() => {});
    const [record] = await executor.run([{ id: 'c1', name: 'look', args: {} }], { conversation: 'chat' });
    expect(record?.error?.code).toBe('cancelled');
  });

  it('refuses a missing conversation, an unknown option, and names that the SDK makes one', async () => {
    const tool = (name: string) =>
      defineTool({ name, description: name, input: { type: 'object' }, execute: () => '' });
    await using executor = createExecutor({ tools: [tool('a-b'), tool('a_b')] });
    expect(() => agentTools(executor, {} as never)).toThrow('agentTools.conversation is missing');
    const unknown = { conversation: 'c', approve: true };
    expect(() => agentTools(executor, unknown)).toThrow('Unknown option agentTools.approve');
    expect(() => agentTools(executor, { conversation: 'c' })).toThrow('"a-b" and "a_b" both "a_b"');
  });
});
