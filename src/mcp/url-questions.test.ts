import { Client } from '@modelcontextprotocol/client';
import {
  InMemoryTransport,
  inputRequired,
  Server,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Question, QuestionAnswer } from '../contract/question.js';
import { createExecutor } from '../executor/create-executor.js';
import { ERAS, type Era } from './fixtures/connect.js';
import { mcpTools } from './mcp-tools.js';

const MESSAGE = 'Sign in.\u{200b}';

/** A server whose tool `visit` sends the person to an address, and returns the outcome. */
async function open(era: Era, url: string, answer: QuestionAnswer | undefined) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const question = { mode: 'url' as const, url, message: MESSAGE, elicitationId: 'e1' };
  const serving = serveStdio(
    () => {
      const server = new Server({ name: 'upstream', version: '1.0.0' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({
        tools: ['visit', 'must'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
      }));
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        if (params.name === 'must') throw new UrlElicitationRequiredError([question], 'Sign in first.');
        const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28';
        const said = isModern ? mcpReq.inputResponses?.visit : await server.elicitInput(question);
        if (said === undefined)
          return inputRequired({
            inputRequests: { visit: inputRequired.elicitUrl({ url, message: MESSAGE }) },
          });
        return { content: [{ type: 'text', text: JSON.stringify(said) }] };
      });
      return server;
    },
    { transport: ours },
  );
  const client = new Client(
    { name: 'tests', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: era === '2026-07-28' ? 'auto' : 'legacy' },
    },
  );
  await client.connect(theirs);
  const asked: Question[] = [];
  const executor = createExecutor({
    tools: [await mcpTools(client, { name: 'up' })],
    policy: null,
    approver: null,
    journal: false,
    asker: (questions) => {
      asked.push(...questions);
      return answer === undefined ? undefined : [answer];
    },
  });
  onTestFinished(async () => {
    await executor.close();
    await client.close();
    await serving.close();
  });
  return { executor, asked };
}

describe.each(ERAS)('a server in revision %s that sends the person to an address', (era) => {
  it('learns that the person was there; the person saw the whole address and its host', async () => {
    const { executor, asked } = await open(era, 'https://xn--bcher-kva.test/a?b=c', { chosen: ['Opened'] });
    expect(await executor.execute('up__visit', {})).toMatchObject({ output: '{"action":"accept"}' });
    expect(asked.map(({ question }) => question)).toEqual([
      'The MCP server up asks you to open an address of xn--bcher-kva.test in your browser: Sign in.\n' +
        'https://xn--bcher-kva.test/a?b=c\n' +
        'Open it only if you trust that host. Answer when you have finished there.',
    ]);
  });

  it.each([
    ['declines', { chosen: [], declined: true } as const, 'decline'],
    ['closes the question', undefined, 'cancel'],
  ])('learns that the person %s', async (_, answer, action) => {
    const { executor } = await open(era, 'https://a.test/', answer);
    expect(await executor.execute('up__visit', {})).toMatchObject({ output: JSON.stringify({ action }) });
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://bank.test@evil.test/',
    `https://a.test/${'a'.repeat(2_000)}`,
  ])('does not ask the person for %s', async (url) => {
    const { executor, asked } = await open(era, url, { chosen: ['Opened'] });
    const { output } = await executor.execute('up__visit', {});
    expect(output).toContain('{"action":"decline"}');
    expect(asked).toEqual([]);
  });
});

it('a call that a server runs only after a visit says where the person has to go', async () => {
  const { executor, asked } = await open('2025-11-25', 'https://a.test/in', undefined);
  const { error } = await executor.execute('up__must', {});
  expect(error?.message).toContain('The person has to open this first: https://a.test/in');
  expect(asked).toEqual([]);
});
