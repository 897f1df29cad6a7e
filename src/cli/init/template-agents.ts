import type { HostTemplate } from './templates.js';

const AGENT = `import { Agent, type Model, Runner, RunState } from '@openai/agents';
import type { Executor } from 'toolexec';
import { agentTools } from 'toolexec/openai-agents';

const runner = new Runner({ tracingDisabled: true });

export interface Decided {
  /** Of an answer with questions. */
  readonly state: string;
  readonly approved: boolean;
}

/** Answers a text of the person, or continues after the person has decided: in any process with the same journal. */
export async function answer(executor: Executor, model: Model, conversation: string, given: string | Decided) {
  const agent = new Agent({ name: 'agent', model, tools: agentTools(executor, { conversation }) });
  const result = await runner.run(agent, typeof given === 'string' ? given : await resume(agent, given));
  const questions = result.interruptions.map((item) => ({ tool: item.name, args: item.arguments }));
  return { text: result.finalOutput, questions, state: result.state.toString() };
}

async function resume(agent: Agent, { state: text, approved }: Decided) {
  const state = await RunState.fromString(agent, text);
  for (const item of state.getInterruptions()) approved ? state.approve(item) : state.reject(item);
  return state;
}
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Model, Usage } from '@openai/agents';
import { answer } from './agent.js';
import { openExecutor } from './executor.js';

const args = JSON.stringify({ path: 'new.txt', content: 'new\\n' });
const model: Model = {
  async getResponse({ input }) {
    const isAnswered = JSON.stringify(input).includes('function_call_result');
    const call = { type: 'function_call', callId: 'call_1', name: 'write_file', arguments: args } as const;
    const content = [{ type: 'output_text' as const, text: 'written' }];
    const said = { type: 'message' as const, role: 'assistant' as const, status: 'completed' as const, content };
    return { usage: new Usage(), output: [isAnswered ? said : call] };
  },
  getStreamedResponse: () => assert.fail('the test does not stream'),
};

test('a call that changes something is asked about, and a state that is resumed twice runs it once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'agent-'));
  const file = join(root, 'new.txt');
  await using executor = openExecutor(root, join(mkdtempSync(join(tmpdir(), 'agent-')), 'journal.db'));
  const { questions, state } = await answer(executor, model, 'chat-1', 'Write new.txt.');
  assert.equal(questions[0]?.tool, 'write_file');
  assert.throws(() => readFileSync(file));
  for (const _ of [1, 2]) {
    const done = await answer(executor, model, 'chat-1', { state, approved: true });
    assert.equal(done.text, 'written');
  }
  assert.equal(readFileSync(file, 'utf8'), 'new\\n');
});
`;

export const AGENTS: HostTemplate = {
  title: "An agent of OpenAI's Agents SDK",
  dependencies: { '@openai/agents': '^0.20.0', zod: '^4.0.0' },
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
