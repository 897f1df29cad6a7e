// The tools of another MCP server, behind the policy, the approval and the record of an executor.
import assert from 'node:assert/strict';
// #region take
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Approver, builtinTools, createExecutor } from 'toolexec';
import { mcpTools } from 'toolexec/mcp';

async function withTools(client: Client, approver: Approver) {
  const source = await mcpTools(client, { name: 'github' });
  return createExecutor({ tools: [builtinTools(), source], approver });
}
// #endregion take

const [ours, theirs] = InMemoryTransport.createLinkedPair();
const serving = serveStdio(
  () => {
    const server = new Server({ name: 'upstream', version: '1.0.0' }, { capabilities: { tools: {} } });
    const tool = {
      name: 'create_issue',
      description: 'Creates an issue.',
      inputSchema: { type: 'object' as const },
    };
    server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
    server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'issue 7' }] }));
    return server;
  },
  { transport: ours },
);
const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(theirs);

const asked: string[] = [];
await using executor = await withTools(client, (requests) => {
  asked.push(...requests.map(({ summary }) => summary));
  return { kind: 'approve_all' };
});
const result = await executor.execute('github__create_issue', { title: 'It is slow' });
console.log(asked, result.output);
// The effects that a server states are not trusted, so the person is asked.
assert.deepEqual(asked, ['Call create_issue of the MCP server github']);
assert.equal(result.output, 'issue 7');
await client.close();
await serving.close();
