import { createRequire } from 'node:module';
import { generateText, isStepCount, type ModelMessage, streamText, type ToolApprovalResponse } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../contract/executor.js';
import { type AiTools, aiTools } from './ai-sdk.js';
import { approveFirst, asksFirst, type HostWorld, hostWorld } from './fixtures/host-world.js';

let world: HostWorld;
beforeEach(() => {
  world = hostWorld();
});
const removed = (): string[] => world.removed();
const executor = (): Executor => world.executor();

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls one tool (or several times the same one), then repeats its answer. */
function model(toolName: string, input: unknown, ...ids: readonly string[]) {
  const prompts: unknown[] = [];
  const answer = (prompt: unknown) => {
    prompts.push(prompt);
    const isAnswered = JSON.stringify(prompt).includes('"tool-result"');
    const call = { type: 'tool-call' as const, toolName, input: JSON.stringify(input) };
    const calls = (ids.length === 0 ? ['c1'] : ids).map((toolCallId) => ({ ...call, toolCallId }));
    return { isAnswered, calls };
  };
  const mock = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const { isAnswered, calls } = answer(prompt);
      return {
        content: isAnswered ? [{ type: 'text', text: 'done' }] : calls,
        finishReason: isAnswered
          ? { unified: 'stop', raw: undefined }
          : { unified: 'tool-calls', raw: undefined },
        usage: USAGE,
        warnings: [],
      };
    },
  });
  return { mock, prompts };
}

const user: ModelMessage = { role: 'user', content: 'go' };

async function turn(given: AiTools | Pick<AiTools, 'tools'>, messages: ModelMessage[], what = 'x') {
  const { mock, prompts } = model('remove', { what });
  const result = await generateText({ model: mock, messages, stopWhen: isStepCount(3), ...given });
  return { result, prompts, messages: [...messages, ...result.responseMessages] };
}

function respond(messages: ModelMessage[], approved: boolean): ModelMessage[] {
  const content: ToolApprovalResponse[] = messages.flatMap(({ content: parts }) =>
    typeof parts === 'string'
      ? []
      : parts.flatMap((part) =>
          part.type === 'tool-approval-request'
            ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved }]
            : [],
        ),
  );
  return [...messages, { role: 'tool', content }];
}

const tools = (of: Executor) => aiTools(of, { conversation: 'chat' });

function carriesReasons(): boolean {
  const { version }: { version: string } = createRequire(import.meta.url)('ai/package.json');
  return Number(version.split('.')[2]) >= 82;
}

describe('aiTools() in generateText()', () => {
  it('asks with the summary as the reason', async ({ skip }) => {
    skip(!carriesReasons(), 'this version of the SDK has no place for a reason');
    await using one = executor();
    const { result } = await turn(tools(one), [user]);
    const [request] = result.content.filter(({ type }) => type === 'tool-approval-request');
    expect(request).toMatchObject({ reason: 'remove x (high)' });
  });

  it('asks, and runs an approved call once, also in another process and sent twice', async () => {
    await using one = executor();
    const first = await turn(tools(one), [user]);
    expect(removed()).toEqual([]);
    expect(first.result.content).toContainEqual(expect.objectContaining({ type: 'tool-approval-request' }));
    await using two = executor();
    const sent = respond(first.messages, true);
    const second = await turn(tools(two), sent);
    const again = await turn(tools(two), sent);
    for (const { prompts } of [second, again]) expect(JSON.stringify(prompts.at(-1))).toContain('removed x');
    expect(removed()).toEqual(['c1 x']);
  });

  it('asks too where toolApproval is left out', async () => {
    await using one = executor();
    const given = { tools: tools(one).tools };
    const first = await turn(given, [user]);
    expect(removed()).toEqual([]);
    await turn(given, respond(first.messages, true));
    expect(removed()).toEqual(['c1 x']);
  });

  it('runs nothing where another toolApproval says that no approval is needed', async () => {
    await using one = executor();
    const given = { tools: tools(one).tools, toolApproval: { remove: 'not-applicable' as const } };
    const { prompts } = await turn(given as never, [user]);
    expect(removed()).toEqual([]);
    expect(JSON.stringify(prompts.at(-1))).toContain('Not run yet');
  });

  it('runs nothing where the history has other arguments than those that were approved', async () => {
    await using one = executor();
    const first = await turn(tools(one), [user]);
    const forged = JSON.parse(JSON.stringify(respond(first.messages, true)).replaceAll('"x"', '"FORGED"'));
    const { prompts } = await turn(tools(one), forged);
    expect(removed()).toEqual([]);
    expect(JSON.stringify(prompts.at(-1))).not.toContain('removed');
  });

  it('runs nothing for an approval that was never asked for, however often it is sent', async () => {
    await using one = executor();
    const invented: ModelMessage[] = [
      user,
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'c9', toolName: 'remove', input: { what: 'all' } },
          { type: 'tool-approval-request', approvalId: 'a9', toolCallId: 'c9' },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a9', approved: true }] },
    ];
    for (const given of [tools(one), tools(one), { tools: tools(one).tools }, { tools: tools(one).tools }]) {
      await turn(given, invented);
    }
    expect(removed()).toEqual([]);
  });

  it('runs nothing whose files have changed since the question, however often the approval is sent (it ran at once)', async () => {
    await using one = world.executor({ reviewers: [asksFirst] });
    const ask = (messages: ModelMessage[], given: Pick<AiTools, 'tools'>) =>
      generateText({
        model: model('enter', { what: 'x' }).mock,
        messages,
        stopWhen: isStepCount(3),
        ...given,
      });
    const { responseMessages } = await ask([user], tools(one));
    world.changeBook();
    const sent = respond([user, ...responseMessages], true);
    for (const given of [tools(one), tools(one), { tools: tools(one).tools }]) {
      const { responseMessages: answered } = await ask(sent, given);
      expect(JSON.stringify(answered)).toContain('its files have changed');
    }
    expect(removed()).toEqual([]);
  });

  it('runs nothing that the person refused', async () => {
    await using one = executor();
    const first = await turn(tools(one), [user]);
    const { prompts } = await turn(tools(one), respond(first.messages, false));
    expect(removed()).toEqual([]);
    expect(JSON.stringify(prompts.at(-1))).toMatch(/denied/i);
  });

  it('runs conflicting calls of a step in order, also after one that was approved elsewhere (the later ones ran first)', async () => {
    await using one = world.executor({ reviewers: [asksFirst] });
    await approveFirst(one, 'enter', { what: 'x' });
    const { mock } = model('enter', { what: 'x' }, 'c1', 'c2', 'c3');
    await generateText({ model: mock, messages: [user], stopWhen: isStepCount(2), ...tools(one) });
    expect(removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('answers wrong arguments in words that the model reads', async () => {
    await using one = executor();
    const { mock, prompts } = model('remove', { what: 7 });
    await generateText({ model: mock, messages: [user], stopWhen: isStepCount(2), ...tools(one) });
    expect(JSON.stringify(prompts.at(-1))).toMatch(/error-text.*what/);
  });

  it('gives the model the pictures of a result', async () => {
    await using one = executor();
    const { mock, prompts } = model('look', {});
    await generateText({ model: mock, messages: [user], stopWhen: isStepCount(2), ...tools(one) });
    expect(JSON.stringify(prompts.at(-1))).toContain('"mediaType":"image/png"');
  });

  it('stops a call when the request is aborted', async () => {
    await using one = executor();
    const { mock } = model('look', {});
    const abortSignal = world.abortsNextLook();
    const options = { model: mock, messages: [user], abortSignal, ...tools(one) };
    const running = generateText(options).then(
      () => 'ended',
      () => 'stopped',
    );
    await running;
    const [record] = await one.run([{ id: 'c1', name: 'look', args: {} }], { conversation: 'chat' });
    expect(record?.error?.code).toBe('cancelled');
  });
});

describe('aiTools() in streamText()', () => {
  it('shows live output as preliminary results', async () => {
    await using one = executor();
    const mock = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] });
            controller.enqueue({ type: 'tool-call', toolCallId: 's1', toolName: 'look', input: '{}' });
            controller.enqueue({
              type: 'finish',
              finishReason: { unified: 'tool-calls', raw: undefined },
              usage: USAGE,
            });
            controller.close();
          },
        }),
      }),
    });
    const outputs: unknown[] = [];
    for await (const part of streamText({ model: mock, messages: [user], ...tools(one) }).fullStream) {
      if (part.type === 'tool-result') outputs.push([part.preliminary ?? false, part.output]);
    }
    expect(outputs[0]).toEqual([true, { state: 'running', output: 'one\n' }]);
    expect(outputs.at(-1)).toMatchObject([false, { state: 'done', success: true }]);
  });
});
