// The official SDK's own server: an echo, and a file read as our tool reads it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [root = '.'] = process.argv.slice(2);
const input = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
const TOOLS = [
  { name: 'echo', description: 'Says it back.', inputSchema: input('text') },
  { name: 'read_file', description: 'Reads a file.', inputSchema: input('path') },
];

serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }) => {
    const text = name === 'echo' ? args.text : await readFile(join(root, args.path), 'utf8');
    return { content: [{ type: 'text', text }] };
  });
  return server;
});
