// The same through an executor: planned, evaluated, recorded in memory.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createExecutor } from 'toolexec';
import { createMcpServer, mcpTools } from 'toolexec/mcp';

const client = new Client({ name: 'gateway', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [process.argv[2]] }));
const source = await mcpTools(client, { name: 'up' });
const executor = createExecutor({ tools: [source], approver: null });

serveStdio(() => createMcpServer(executor));
process.stdin.on('end', async () => {
  await executor.close();
  await client.close();
});
