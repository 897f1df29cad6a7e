// The tools of a program for an MCP client. This client runs in the same process, and its person agrees to
// every question.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
// #region serve
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createExecutor, type Executor } from 'toolexec';
import { createMcpServer } from 'toolexec/mcp';

function serve(executor: Executor, transport?: InMemoryTransport) {
  const create = () => createMcpServer(executor, { tools: ['read_file', 'grep', 'write_file'] });
  // Without a transport: standard input and output.
  return serveStdio(create, transport === undefined ? {} : { transport });
}
// #endregion serve

const folder = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
process.env.XDG_STATE_HOME = folder;
try {
  await using executor = createExecutor({ root, journal: join(folder, 'journal.db') });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const serving = serve(executor, ours);

  const client = new Client(
    { name: 'example', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    console.log(params.message);
    return { action: 'accept', content: {} };
  });
  await client.connect(theirs);
  const result = await client.callTool({
    name: 'write_file',
    arguments: { path: 'a.txt', content: 'hello\n' },
  });
  assert.equal(result.isError, undefined);
  assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'hello\n');
  await client.close();
  await serving.close();
} finally {
  for (const directory of [folder, root]) rmSync(directory, { recursive: true });
}
