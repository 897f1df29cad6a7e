import type { HostTemplate } from './templates.js';

const SERVER = `import { createMcpServer } from 'toolexec/mcp';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Executor } from 'toolexec';

/** The tools that clients see. What needs approval is asked about in the client. */
const tools = ['read_file', 'grep', 'write_file'];

/** @param transport left out: standard input and output */
export function serve(executor: Executor, transport?: NonNullable<Parameters<typeof serveStdio>[1]>['transport']) {
  return serveStdio(() => createMcpServer(executor, { tools }), transport === undefined ? {} : { transport });
}
`;

const MAIN = `import { openExecutor } from './executor.js';
import { serve } from './server.js';

serve(openExecutor());
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { openExecutor } from './executor.js';
import { serve } from './server.js';

const folder = (): string => mkdtempSync(join(tmpdir(), 'server-'));

test('a call that changes something is asked about in the client, and runs once it is accepted', async () => {
  process.env.XDG_STATE_HOME = folder();
  const root = folder();
  await using executor = openExecutor(root, join(folder(), 'journal.db'));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const serving = serve(executor, ours);
  const capabilities = { elicitation: {} };
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: 'auto' } },
  );
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: {} };
  });
  await client.connect(theirs);
  const call = { name: 'write_file', arguments: { path: 'new.txt', content: 'new\\n' } };
  const result = await client.callTool(call);
  assert.equal(result.isError, undefined);
  assert.equal(asked.length, 1);
  assert.equal(readFileSync(join(root, 'new.txt'), 'utf8'), 'new\\n');
  await client.close();
  await serving.close();
});
`;

export const MCP: HostTemplate = {
  title: 'An MCP server',
  dependencies: { '@modelcontextprotocol/server': '^2.4.0' },
  devDependencies: { '@modelcontextprotocol/client': '^2.4.0' },
  files: { 'server.ts': SERVER, 'main.ts': MAIN, 'server.test.ts': TEST },
};
