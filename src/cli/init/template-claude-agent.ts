import type { HostTemplate } from './templates.js';

const EXECUTOR = `import { createInterface } from 'node:readline/promises';
import { type Approver, createExecutor, type Executor, loadConfig } from 'toolexec';

/** Tools for the files in a folder. The journal keeps what was asked and what ran, also for later processes. */
export function openExecutor(root = 'workspace', journal = 'journal.db', approver: Approver = askHere): Executor {
  return createExecutor({ ...loadConfig('toolexec.toml').executor, root, journal, approver });
}

/** Asks at the terminal. Ask in your own interface instead: show the requests, give back the decision. */
const askHere: Approver = async (requests, { signal }) => {
  for (const { summary, risk } of requests) console.log(\`\${summary} (\${risk})\`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const line = await terminal.question('Run it? y/n ', { signal }).finally(() => terminal.close());
  return { kind: line.trim() === 'y' ? 'approve_all' : 'deny_all' };
};
`;

const AGENT = `import { type Options, query } from '@anthropic-ai/claude-agent-sdk';
import type { Executor } from 'toolexec';
import { claudeAgent } from 'toolexec/claude-agent';

/** One turn of a chat. Claude's own tools for files and commands are off: it has the executor's. */
export async function answer(executor: Executor, chat: { readonly id: string; readonly prompt: string; readonly options?: Options }): Promise<string> {
  const tools = claudeAgent(executor, { conversation: chat.id });
  const options: Options = { settingSources: [], ...chat.options, ...tools };
  for await (const message of query({ prompt: chat.prompt, options })) {
    if (message.type === 'result') return message.subtype === 'success' ? message.result : message.subtype;
  }
  return '';
}
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Approver } from 'toolexec';
import { answer } from './agent.js';
import { openExecutor } from './executor.js';

const NAME = 'mcp__toolexec__write_file';
const ARGS = JSON.stringify({ path: 'new.txt', content: 'new\\n' });

/** A model on this machine: it calls one tool, then says that it is done. */
const model = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (request.method !== 'POST') return response.end();
  const isAnswered = body.includes('"tool_result"');
  const send = (type: string, data: object) =>
    response.write(\`event: \${type}\\ndata: \${JSON.stringify({ type, ...data })}\\n\\n\`);
  const block = isAnswered ? { type: 'text', text: '' } : { type: 'tool_use', id: 'toolu_1', name: NAME, input: {} };
  const delta = isAnswered ? { type: 'text_delta', text: 'written' } : { type: 'input_json_delta', partial_json: ARGS };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send('message_start', { message });
  send('content_block_start', { index: 0, content_block: block });
  send('content_block_delta', { index: 0, delta });
  send('content_block_stop', { index: 0 });
  send('message_delta', { delta: { stop_reason: isAnswered ? 'end_turn' : 'tool_use' }, usage });
  send('message_stop', {});
  return response.end();
});

test('a call that changes something is asked about, and runs once it is approved', async () => {
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  const folder = (): string => mkdtempSync(join(tmpdir(), 'agent-'));
  const [root, home] = [folder(), folder()];
  const asked: string[] = [];
  const approver: Approver = (requests) => {
    asked.push(...requests.map(({ toolName }) => toolName));
    return { kind: 'approve_all' };
  };
  await using executor = openExecutor(root, join(folder(), 'journal.db'), approver);
  const url = \`http://127.0.0.1:\${(model.address() as AddressInfo).port}\`;
  const offline = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const env = { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home, ...offline };
  const chat = { id: 'chat-1', prompt: 'Write new.txt.', options: { cwd: root, env } };
  assert.equal(await answer(executor, chat), 'written');
  assert.deepEqual(asked, ['write_file']);
  assert.equal(readFileSync(join(root, 'new.txt'), 'utf8'), 'new\\n');
  model.close();
});
`;

export const CLAUDE_AGENT: HostTemplate = {
  title: 'An agent of the Claude Agent SDK',
  dependencies: {
    '@anthropic-ai/claude-agent-sdk': '^0.3.142',
    '@modelcontextprotocol/sdk': '^1.29.0',
    zod: '^4.0.0',
  },
  files: { 'executor.ts': EXECUTOR, 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
