import type { HostTemplate } from './templates.js';

const AGENT = `import type { AIMessage } from '@langchain/core/messages';
import { type BaseCheckpointSaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import type { Executor } from 'toolexec';
import { langchainTools } from 'toolexec/langchain';

export type CallModel = (messages: typeof MessagesAnnotation.State.messages) => Promise<AIMessage>;

/** A call that needs approval interrupts the graph: resume it with { ticket, approved }. */
export function agentOf(executor: Executor, callModel: CallModel, conversation: string, checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await callModel(messages)] }))
    .addNode('tools', new ToolNode(langchainTools(executor, { conversation })))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ checkpointer });
}
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { Command, isInterrupted, MemorySaver } from '@langchain/langgraph';
import type { LangChainAnswer, LangChainQuestion } from 'toolexec/langchain';
import { agentOf, type CallModel } from './agent.js';
import { openExecutor } from './executor.js';

const call = { id: 'call_1', name: 'write_file', args: { path: 'new.txt', content: 'new\\n' } };
const model: CallModel = async (messages) =>
  messages.some((each) => ToolMessage.isInstance(each))
    ? new AIMessage('written')
    : new AIMessage({ content: '', tool_calls: [call] });

test('a call that changes something is asked about, and runs once it is approved', async () => {
  const root = mkdtempSync(join(tmpdir(), 'agent-'));
  const file = join(root, 'new.txt');
  await using executor = openExecutor(root, join(mkdtempSync(join(tmpdir(), 'agent-')), 'journal.db'));
  const agent = agentOf(executor, model, 'chat-1', new MemorySaver());
  const thread = { configurable: { thread_id: 'chat-1' } };
  const asked = await agent.invoke({ messages: ['Write new.txt.'] }, thread);
  assert.ok(isInterrupted<LangChainQuestion>(asked));
  assert.throws(() => readFileSync(file));
  const answer: LangChainAnswer = { ticket: asked.__interrupt__[0]?.value?.ticket ?? '', approved: true };
  const done = await agent.invoke(new Command({ resume: answer }), thread);
  assert.equal(done.messages.at(-1)?.text, 'written');
  assert.equal(readFileSync(file, 'utf8'), 'new\\n');
});
`;

export const LANGCHAIN: HostTemplate = {
  title: 'An agent of LangGraph',
  dependencies: { '@langchain/core': '^1.3.4', '@langchain/langgraph': '^1.4.13' },
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
