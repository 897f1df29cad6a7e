// Requests of a provider, custom tools, and consent that depends on the arguments (C052, C057).
import assert from 'node:assert/strict';
import { createExecutor, defineTool } from 'toolexec';
import { readCalls } from 'toolexec/protocols';

const path = { type: 'string' } as const;
const readFile = defineTool({
  name: 'read_file',
  description: 'Tool: read_file',
  input: { type: 'object', properties: { path }, required: ['path'] },
  effects: () => [],
  execute: (args) => ({ text: `Contents of ${args.path}`, metadata: { path: args.path } }),
});
const writeFile = defineTool({
  name: 'write_file',
  description: 'Tool: write_file',
  input: {
    type: 'object',
    properties: { path, content: { type: 'string' } },
    required: ['path', 'content'],
  },
  effects: () => [],
  requiresApproval: true,
  execute: (args) => `Wrote ${args.content.length} bytes to ${args.path}`,
});

await using executor = createExecutor({
  tools: [writeFile, readFile],
  approver: (requests) => ({
    kind: 'approve_selected',
    ids: requests.filter(({ args }) => String(args.path).startsWith('/tmp/')).map(({ callId }) => callId),
  }),
});

const uses = [
  { id: 'toolu_read_123', name: 'read_file', input: { path: '/tmp/config.json' } },
  { id: 'toolu_write_456', name: 'write_file', input: { path: '/tmp/output.txt', content: 'Hello, World!' } },
  { id: 'toolu_write_789', name: 'write_file', input: { path: '/etc/passwd', content: 'malicious' } },
];
const succeeded: boolean[] = [];
for (const use of uses) {
  const { calls, answer } = readCalls([{ type: 'tool_use', ...use }]);
  const results = await executor.run(calls);
  console.log(JSON.stringify(answer(results)));
  succeeded.push(...results.map(({ success }) => success));
}
const names = executor.definitions().map(({ name }) => name);

console.log(`Read operation: success=${succeeded[0]}`);
console.log(`Write operation (approved): success=${succeeded[1]}`);
console.log(`Write operation (denied): success=${succeeded[2]}`);
console.log(`Available tools: [${names.join(' ')}]`);
assert.deepEqual(succeeded, [true, true, false]);
assert.deepEqual(names, ['read_file', 'write_file']);
