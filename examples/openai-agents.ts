// An agent of OpenAI's Agents SDK with the executor's tools: a call that changes something interrupts the run.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type Model, Runner, RunState, Usage } from '@openai/agents';
import { createExecutor } from 'toolexec';
import { agentTools } from 'toolexec/openai-agents';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const args = JSON.stringify({ path: 'new.txt', content: 'new\n' });
const model: Model = {
  async getResponse({ input }) {
    const isAnswered = JSON.stringify(input).includes('function_call_result');
    const call = { type: 'function_call', callId: 'call_1', name: 'write_file', arguments: args } as const;
    const content = [{ type: 'output_text' as const, text: 'written' }];
    const said = {
      type: 'message' as const,
      role: 'assistant' as const,
      status: 'completed' as const,
      content,
    };
    return { usage: new Usage(), output: [isAnswered ? said : call] };
  },
  getStreamedResponse: () => assert.fail('this example does not stream'),
};
await using executor = createExecutor({ root });
const chatId = 'thread-7';
// #region tools
const agent = new Agent({ name: 'writer', model, tools: agentTools(executor, { conversation: chatId }) });
// #endregion tools
const runner = new Runner({ tracingDisabled: true });
const asked = await runner.run(agent, 'Write new.txt.');
assert.equal(existsSync(join(root, 'new.txt')), false);
const state = await RunState.fromString(agent, asked.state.toString());
for (const question of state.getInterruptions()) state.approve(question);
assert.equal((await runner.run(agent, state)).finalOutput, 'written');
assert.equal(existsSync(join(root, 'new.txt')), true);
rmSync(root, { recursive: true });
