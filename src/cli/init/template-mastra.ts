import type { HostTemplate } from './templates.js';

const AGENT = `import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import type { Executor } from 'toolexec';
import { mastraTools } from 'toolexec/mastra';

export type Model = ConstructorParameters<typeof Agent>[0]['model'];

/** A call that needs approval suspends the run: approveToolCall or declineToolCall goes on. Use a storage that lasts. */
export function agentOf(executor: Executor, model: Model, conversation: string, storage = new InMemoryStore()) {
  const tools = mastraTools(executor, { conversation });
  const instructions = 'You work with the files of a folder.';
  const agent = new Agent({ id: 'agent', name: 'agent', instructions, model, tools });
  return new Mastra({ agents: { agent }, storage }).getAgent('agent');
}
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentOf, type Model } from './agent.js';
import { openExecutor } from './executor.js';

const input = JSON.stringify({ path: 'new.txt', content: 'new\\n' });

/** Calls the tool once, and says that it is done when it has the result. */
const model = {
  specificationVersion: 'v2',
  provider: 'test',
  modelId: 'test',
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const isDone = prompt.some(({ role }) => role === 'tool');
    return {
      content: isDone
        ? [{ type: 'text', text: 'written' }]
        : [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'write_file', input }],
      finishReason: isDone ? 'stop' : 'tool-calls',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      warnings: [],
    };
  },
  doStream: () => Promise.reject(new Error('this agent does not stream')),
} satisfies Model;

test('a call that changes something is asked about, and runs once it is approved', async () => {
  const root = mkdtempSync(join(tmpdir(), 'agent-'));
  const file = join(root, 'new.txt');
  await using executor = openExecutor(root, join(mkdtempSync(join(tmpdir(), 'agent-')), 'journal.db'));
  const agent = agentOf(executor, model, 'chat-1');
  const { finishReason, runId = '' } = await agent.generate('Write new.txt.');
  assert.equal(finishReason, 'suspended');
  assert.throws(() => readFileSync(file));
  const done = await agent.approveToolCallGenerate({ runId, toolCallId: 'call_1' });
  assert.equal(done.text, 'written');
  assert.equal(readFileSync(file, 'utf8'), 'new\\n');
});
`;

export const MASTRA: HostTemplate = {
  title: 'An agent of Mastra',
  dependencies: { '@mastra/core': '^1.0.4', zod: '^4.0.0' },
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
