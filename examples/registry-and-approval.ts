// A registry with a harmless and a dangerous tool, and a person who agrees to one path only (C051).
import assert from 'node:assert/strict';
import { createExecutor, createRegistry, defineTool } from 'toolexec';

const registry = createRegistry();
registry.register(
  defineTool({
    name: 'echo',
    description: 'Echoes back the input',
    input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    effects: () => [],
    execute: ({ message }) => message,
  }),
);
registry.register(
  defineTool({
    name: 'delete_file',
    description: 'Says that it deletes a file',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effects: () => [],
    requiresApproval: true,
    execute: ({ path }) => `Deleted ${path}`,
  }),
);

await using executor = createExecutor({
  tools: registry,
  approver: (requests) => ({
    kind: 'approve_selected',
    ids: requests.filter(({ args }) => args.path === '/tmp/test.txt').map(({ callId }) => callId),
  }),
});

const echoed = await executor.execute('echo', { message: 'Hello, World!' });
const deleted = await executor.execute('delete_file', { path: '/tmp/test.txt' });
const denied = await executor.execute('delete_file', { path: '/etc/passwd' });
const names = registry.list().map(({ name }) => name);

console.log(`Echo result: ${echoed.output}`);
console.log(`Delete result (approved): ${deleted.output}`);
console.log(`Delete result (denied): success=${denied.success}, error=${denied.error?.message}`);
console.log(`Registered tools: [${names.join(' ')}]`);

assert.equal(echoed.output, 'Hello, World!');
assert.equal(deleted.output, 'Deleted /tmp/test.txt');
assert.equal(denied.success, false);
assert.equal(denied.error.code, 'user_denied');
assert.match(denied.error.message, /user denied permission/i);
assert.deepEqual(names, ['delete_file', 'echo']);
