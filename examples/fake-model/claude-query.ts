import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { ClaudeAgent } from 'toolexec/claude-agent';

/** Acts as `query` of the Claude Agent SDK when its model calls `write_file`: asks `canUseTool`, then calls. */
export async function query(given: { prompt: string; options: ClaudeAgent }): Promise<unknown> {
  const { mcpServers, canUseTool } = given.options;
  const input = { path: 'new.txt', content: 'new\n' };
  const asked = { signal: new AbortController().signal, toolUseID: 't1' };
  const { behavior } = await canUseTool('mcp__toolexec__write_file', input, asked);
  if (behavior === 'deny') return 'denied';
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'claude', version: '1.0.0' });
  await Promise.all([mcpServers.toolexec.instance.connect(ours), client.connect(theirs)]);
  const _meta = { 'claudecode/toolUseId': asked.toolUseID };
  return await client.callTool({ name: 'write_file', arguments: input, _meta });
}
