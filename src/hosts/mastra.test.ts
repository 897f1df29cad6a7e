import { beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../contract/executor.js';
import { approveFirst, asksFirst, type HostWorld, hostWorld, slowFirst } from './fixtures/host-world.js';
import { type MastraQuestion, mastraToolOptions } from './mastra.js';

let world: HostWorld;
beforeEach(() => {
  world = hostWorld();
});

interface Turn {
  readonly id?: string;
  readonly resumed?: unknown;
  readonly signal?: AbortSignal;
  readonly chunks?: unknown[];
}

/** Mastra's steps for one call. `test/hosts/mastra.soak.test.ts` uses the real package. */
async function call(executor: Executor, name: string, args: unknown, turn: Turn = {}) {
  const { id = 'c1', resumed, signal, chunks = [] } = turn;
  const tool = mastraToolOptions(executor, { conversation: 'chat' }).find((each) => each.id === name);
  let question: MastraQuestion | undefined;
  const agent = {
    toolCallId: id,
    resumeData: resumed,
    suspend: async (payload: unknown) => {
      question = payload as MastraQuestion;
    },
  };
  const writer = { write: async (chunk: unknown) => void chunks.push(chunk) };
  const output = await tool?.execute(args, { agent, abortSignal: signal, writer });
  return { question, output, model: tool?.toModelOutput(output) };
}

const X = { what: 'x' };

describe('mastraToolOptions()', () => {
  it('suspends with the question, and runs an approved call once, also in another process and resumed twice', async () => {
    await using one = world.executor();
    const { question } = await call(one, 'remove', X);
    expect(question).toMatchObject({ type: 'tool_approval', toolName: 'remove', args: X, risk: 'high' });
    expect(world.removed()).toEqual([]);
    await using two = world.executor();
    for (let turn = 0; turn < 2; turn++) {
      const { output, model } = await call(two, 'remove', X, { resumed: { approved: true } });
      expect([output, model]).toMatchObject([{ output: 'removed x' }, { type: 'text', value: 'removed x' }]);
    }
    expect(world.removed()).toEqual(['c1 x']);
  });

  it('runs nothing for changed arguments, for an approval that was never asked for, or for data without an answer', async () => {
    await using executor = world.executor();
    const approved = { approved: true };
    await call(executor, 'remove', X);
    await expect(call(executor, 'remove', { what: 'FORGED' }, { resumed: approved })).rejects.toThrow(
      'Error: ',
    );
    for (let turn = 0; turn < 2; turn++)
      await expect(call(executor, 'remove', X, { id: 'c9', resumed: approved })).rejects.toThrow(
        'never asked for',
      );
    for (const resumed of [true, 'yes', { approved: 'yes' }, { other: 1 }, null])
      expect((await call(executor, 'remove', X, { resumed })).question?.toolName).toBe('remove');
    expect(world.removed()).toEqual([]);
  });

  it('runs nothing whose files have changed since the question, however often the approval is sent (the second one counted)', async () => {
    await using executor = world.executor({ reviewers: [asksFirst] });
    await call(executor, 'enter', X);
    world.changeBook();
    for (let turn = 0; turn < 2; turn++)
      await expect(call(executor, 'enter', X, { resumed: { approved: true } })).rejects.toThrow(
        'its files have changed',
      );
    expect(world.removed()).toEqual([]);
  });

  it('runs nothing that the person declined, nor outside of an agent', async () => {
    await using executor = world.executor();
    await call(executor, 'remove', X);
    await expect(call(executor, 'remove', X, { resumed: { approved: false } })).rejects.toThrow('Error: ');
    const tool = mastraToolOptions(executor, { conversation: 'chat' }).find(({ id }) => id === 'remove');
    await expect(tool?.execute(X, {})).rejects.toThrow('Not run yet');
    expect(world.removed()).toEqual([]);
  });

  it('runs conflicting calls of a step in order (the first to be planned ran first)', async () => {
    await using executor = world.executor({ reviewers: [slowFirst] });
    const tool = mastraToolOptions(executor, { conversation: 'chat' }).find(({ id }) => id === 'enter');
    const suspend = () => Promise.reject(new Error('it needs no approval'));
    await Promise.all(
      ['c1', 'c2', 'c3'].map((toolCallId) => tool?.execute(X, { agent: { toolCallId, suspend } })),
    );
    expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('runs conflicting calls of a step in order, also after one that was approved elsewhere', async () => {
    await using executor = world.executor({ reviewers: [asksFirst] });
    await approveFirst(executor, 'enter', X);
    const tool = mastraToolOptions(executor, { conversation: 'chat' }).find(({ id }) => id === 'enter');
    const suspend = () => Promise.reject(new Error('it was approved'));
    await Promise.all(
      ['c1', 'c2', 'c3'].map((toolCallId) => tool?.execute(X, { agent: { toolCallId, suspend } })),
    );
    expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('throws what failed, carries pictures and live output, and stops a call whose run is aborted', async () => {
    await using executor = world.executor();
    await expect(call(executor, 'fail', {})).rejects.toThrow('Error: it broke\n\nthe log');
    const chunks: unknown[] = [];
    const { model } = await call(executor, 'look', {}, { id: 'c2', chunks });
    expect(model).toEqual({
      type: 'content',
      value: [{ type: 'media', mediaType: 'image/png', data: 'AQI=' }],
    });
    expect(chunks).toEqual([{ type: 'toolexec-output', output: 'one\n' }]);
    const stopped = call(executor, 'look', {}, { id: 'c3', signal: world.abortsNextLook() });
    await expect(stopped).rejects.toThrow(/cancel/i);
  });

  it('gives the model the error of arguments that Mastra refuses itself (it got an empty text)', async () => {
    await using executor = world.executor();
    const [tool] = mastraToolOptions(executor, { conversation: 'chat' });
    const refused = {
      error: true,
      message: 'Tool input validation failed',
      validationErrors: { fields: {} },
    };
    const content = { type: 'error-text', value: 'Error: Tool input validation failed' };
    expect(tool?.toModelOutput(refused)).toEqual(content);
    expect(tool?.toModelOutput(undefined)).toEqual({ type: 'text', value: '' });
  });
});
