// JavaScript, because the types of what it imports are only there once it is installed.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** An MCP client and server, linked in memory. */
export async function openPeer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'noop',
    { description: 'Does nothing.', inputSchema: z.object({ message: z.string(), count: z.int() }) },
    async ({ message }) => ({ content: [{ type: 'text', text: message }] }),
  );
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return {
    async call(args) {
      const { content } = await client.callTool({ name: 'noop', arguments: args });
      return content[0].text;
    },
  };
}
