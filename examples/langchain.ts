// A LangGraph with the executor's tools: a call that changes something interrupts the graph, and runs once.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AIMessage } from '@langchain/core/messages';
import { Command, isInterrupted, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createExecutor } from 'toolexec';
import { type LangChainAnswer, type LangChainQuestion, langchainTools } from 'toolexec/langchain';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const call = { id: 'call_1', name: 'write_file', args: { path: 'new.txt', content: 'new\n' } };
const model = () => ({ messages: [new AIMessage({ content: '', tool_calls: [call] })] });
await using executor = createExecutor({ root });
const chatId = 'thread-7';
// #region tools
const tools = new ToolNode(langchainTools(executor, { conversation: chatId }));
// #endregion tools
const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', model)
  .addNode('tools', tools)
  .addEdge('__start__', 'model')
  .addEdge('model', 'tools')
  .compile({ checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: chatId } };
const asked = await graph.invoke({ messages: ['Write new.txt.'] }, thread);
assert.equal(existsSync(join(root, 'new.txt')), false);
assert.ok(isInterrupted<LangChainQuestion>(asked));
const ticket = asked.__interrupt__[0]?.value?.ticket ?? '';
// #region answer
const answer: LangChainAnswer = { ticket, approved: true };
const end = await graph.invoke(new Command({ resume: answer }), thread);
// #endregion answer
assert.match(end.messages.at(-1)?.text ?? '', /new\.txt/);
assert.equal(existsSync(join(root, 'new.txt')), true);
rmSync(root, { recursive: true });
