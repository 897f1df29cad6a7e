// An agent of Mastra with the executor's tools: a call that changes something suspends the run until it is approved.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createExecutor } from 'toolexec';
import { mastraTools } from 'toolexec/mastra';
import { model } from './writing-model.mjs';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const executor = createExecutor({ root });
const chatId = 'thread-7';
// #region tools
const tools = mastraTools(executor, { conversation: chatId });
// #endregion tools
const writer = new Agent({ id: 'writer', name: 'writer', instructions: 'Write files.', model, tools });
const agent = new Mastra({ agents: { writer }, storage: new InMemoryStore() }).getAgent('writer');
const asked = await agent.generate('Write new.txt.');
assert.equal(asked.finishReason, 'suspended');
assert.equal(existsSync(join(root, 'new.txt')), false);
const done = await agent.approveToolCallGenerate({ runId: asked.runId, toolCallId: 'call_1' });
assert.equal(done.text, 'written');
assert.equal(existsSync(join(root, 'new.txt')), true);
await executor.close();
rmSync(root, { recursive: true });
