import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import {
  Command,
  END,
  isInterrupted,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../contract/executor.js';
import { approveFirst, asksFirst, type HostWorld, hostWorld, slowFirst } from './fixtures/host-world.js';
import { type LangChainAnswer, type LangChainQuestion, langchainTools } from './langchain.js';

let world: HostWorld;
let memory: MemorySaver;
beforeEach(() => {
  world = hostWorld();
  memory = new MemorySaver();
});

type Calls = readonly {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
}[];
const remove = (id: string, what: unknown) => ({ id, name: 'remove', args: { what } });

const tools = (executor: Executor) => langchainTools(executor, { conversation: 'chat' });
const THREAD = { configurable: { thread_id: '1' } };

/** A model that makes these calls in one response, and a node that runs them. */
function graphOf(executor: Executor, calls: Calls, checkpointer: MemorySaver | false = memory) {
  const model = () => ({
    messages: [
      new AIMessage({ content: '', tool_calls: calls.map((each) => ({ ...each, type: 'tool_call' })) }),
    ],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', model)
    .addNode('tools', new ToolNode(tools(executor)))
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addEdge('tools', END);
  return graph.compile(checkpointer === false ? {} : { checkpointer });
}

const START_STATE = { messages: [new HumanMessage('go')] };

/** Each step in a new executor, as in another process. */
async function begin(calls: Calls) {
  await using executor = world.executor();
  return await graphOf(executor, calls).invoke(START_STATE, THREAD);
}

async function resume(calls: Calls, answer: unknown) {
  await using executor = world.executor();
  return await graphOf(executor, calls).invoke(new Command({ resume: answer }), THREAD);
}

function questionIn(state: unknown): LangChainQuestion {
  if (!isInterrupted<LangChainQuestion>(state)) throw new Error('the graph was not interrupted');
  const [interrupt] = state.__interrupt__;
  if (interrupt?.value === undefined) throw new Error('the interrupt has no value');
  return interrupt.value;
}

const yes = (ticket: string): LangChainAnswer => ({ ticket, approved: true });
const answers = ({ messages }: { messages: BaseMessage[] }) =>
  messages.filter((each) => ToolMessage.isInstance(each)).map(({ status, content }) => [status, content]);

describe('langchainTools() in a graph', () => {
  it('interrupts, and runs an approved call once', async () => {
    const calls = [remove('c1', 'x')];
    const asked = questionIn(await begin(calls));
    expect(asked).toMatchObject({ toolName: 'remove', summary: 'remove x', risk: 'high' });
    expect(world.removed()).toEqual([]);
    expect(answers(await resume(calls, yes(asked.ticket)))).toEqual([['success', 'removed x']]);
    await using executor = world.executor();
    const again = await graphOf(executor, calls).invoke(START_STATE, { configurable: { thread_id: '2' } });
    expect(answers(again)).toEqual([['success', 'removed x']]);
    expect(world.removed()).toEqual(['c1 x']);
  });

  it('asks one question for each call of a node, and a node that is run again runs nothing twice', async () => {
    await using executor = world.executor();
    const graph = graphOf(executor, [remove('c1', 'x'), remove('c2', 'y')]);
    const first = questionIn(await graph.invoke(START_STATE, THREAD));
    const second = questionIn(await graph.invoke(new Command({ resume: yes(first.ticket) }), THREAD));
    expect([first.args, second.args]).toEqual([{ what: 'x' }, { what: 'y' }]);
    const no: LangChainAnswer = { ticket: second.ticket, approved: false };
    const end = await graph.invoke(new Command({ resume: no }), THREAD);
    expect(world.removed()).toEqual(['c1 x']);
    expect(answers(end)).toEqual([
      ['success', 'removed x'],
      ['error', expect.stringContaining('Error: ')],
    ]);
  });

  it.each([
    ['with', true],
    ['without', false],
  ])(
    '%s a checkpointer, conflicting calls of a node run in order (the first to be planned ran first)',
    async (_, has) => {
      await using executor = world.executor({ reviewers: [slowFirst] });
      const calls = ['c1', 'c2', 'c3'].map((id) => ({ id, name: 'enter', args: { what: 'x' } }));
      await graphOf(executor, calls, has && memory).invoke(START_STATE, THREAD);
      expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
    },
  );

  it.each([
    ['with', true],
    ['without', false],
  ])(
    '%s a checkpointer, runs conflicting calls of a step in order, also after one that was approved elsewhere',
    async (_, has) => {
      await using executor = world.executor({ reviewers: [asksFirst] });
      await approveFirst(executor, 'enter', { what: 'x' });
      const calls = ['c1', 'c2', 'c3'].map((id) => ({ id, name: 'enter', args: { what: 'x' } }));
      await graphOf(executor, calls, has && memory).invoke(START_STATE, THREAD);
      expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
    },
  );

  it('asks again where the answer names another question, or none', async () => {
    const calls = [remove('c1', 'x')];
    const { ticket } = questionIn(await begin(calls));
    for (const wrong of [true, 'approve', { approved: true }, yes('other'), { ticket, approved: 'yes' }]) {
      expect(questionIn(await resume(calls, wrong)).ticket).toBe(ticket);
    }
    expect(world.removed()).toEqual([]);
  });

  it('asks again where files have changed since the question, however often the approval is sent', async () => {
    await using executor = world.executor({ reviewers: [asksFirst] });
    const graph = graphOf(executor, [{ id: 'c1', name: 'enter', args: { what: 'x' } }]);
    const first = questionIn(await graph.invoke(START_STATE, THREAD));
    world.changeBook();
    let second = first;
    for (const _ of [1, 2])
      second = questionIn(await graph.invoke(new Command({ resume: yes(first.ticket) }), THREAD));
    expect(world.removed()).toEqual([]);
    await graph.invoke(new Command({ resume: yes(second.ticket) }), THREAD);
    expect(world.removed()).toEqual(['c1 x']);
  });

  it('runs nothing with other arguments than those that were approved', async () => {
    const { ticket } = questionIn(await begin([remove('c1', 'x')]));
    await using executor = world.executor();
    const forged = await graphOf(executor, [remove('c1', 'FORGED')], false).invoke(START_STATE);
    expect(answers(forged)).toEqual([['error', expect.stringContaining('Error: ')]]);
    const state = graphOf(executor, [remove('c1', 'FORGED')]);
    await state.invoke(START_STATE, { configurable: { thread_id: '3' } });
    await state
      .invoke(new Command({ resume: yes(ticket) }), { configurable: { thread_id: '3' } })
      .catch(() => {});
    expect(world.removed()).toEqual([]);
  });

  it('runs nothing in a graph without a checkpointer, until the ticket is decided elsewhere', async () => {
    await using executor = world.executor();
    const graph = graphOf(executor, [remove('c1', 'x')], false);
    expect(answers(await graph.invoke(START_STATE))).toEqual([
      ['error', expect.stringContaining('Not run yet')],
    ]);
    const [waiting] = await executor.waiting({ conversation: 'chat' });
    await executor.decide(waiting?.ticket ?? '', { kind: 'approve_all' });
    expect(answers(await graph.invoke(START_STATE))).toEqual([['success', 'removed x']]);
    expect(world.removed()).toEqual(['c1 x']);
  });

  it('marks a failed call as failed, and the model reads message and output', async () => {
    await using executor = world.executor();
    const state = await graphOf(executor, [{ id: 'c1', name: 'fail', args: {} }]).invoke(START_STATE, THREAD);
    expect(answers(state)).toEqual([['error', 'Error: it broke\n\nthe log']]);
  });

  it('stops a call when the graph is aborted', async () => {
    await using executor = world.executor();
    const graph = graphOf(executor, [{ id: 'c1', name: 'look', args: {} }]);
    const signal = world.abortsNextLook();
    await expect(graph.invoke(START_STATE, { ...THREAD, signal })).rejects.toThrow();
    const [record] = await executor.run([{ id: 'c1', name: 'look', args: {} }], { conversation: 'chat' });
    expect(record?.error?.code).toBe('cancelled');
  });
});

describe('langchainTools() by hand', () => {
  const look = { id: 'c1', name: 'look', args: {}, type: 'tool_call' } as const;
  const tool = (executor: Executor, name: string) => {
    const found = tools(executor).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    return found;
  };

  it('gives the pictures of a result, and shows live output', async () => {
    await using executor = world.executor();
    const shown: unknown[] = [];
    const callbacks = [{ handleToolEvent: (chunk: unknown) => void shown.push(chunk) }];
    const message = await tool(executor, 'look').invoke(look, { callbacks });
    expect(message).toMatchObject({
      status: 'success',
      content: [{ type: 'image', mimeType: 'image/png', data: 'AQI=' }],
    });
    expect(shown).toEqual([{ output: 'one\n' }]);
  });

  it('throws a failure where the call has no id, and never runs such a call that needs approval', async () => {
    await using executor = world.executor();
    await expect(tool(executor, 'fail').invoke({})).rejects.toThrow('Error: it broke');
    await expect(tool(executor, 'remove').invoke({ what: 'x' })).rejects.toThrow('Not run yet');
    await expect(tool(executor, 'remove').invoke({ what: 7 })).rejects.toThrow('what');
    expect(world.removed()).toEqual([]);
  });

  it('has schemas that LangChain may change', async () => {
    await using executor = world.executor();
    for (const { schema } of tools(executor)) expect(Object.isFrozen(schema)).toBe(false);
    const [first, second] = [tool(executor, 'remove'), tool(executor, 'remove')];
    first.schema.description = 'mine';
    expect(second.schema.description).toBeUndefined();
  });
});
