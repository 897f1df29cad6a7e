// A call that fails is a result; only `invoke`, which is for programs, throws.
import assert from 'node:assert/strict';
import { createExecutor, defineTool, isToolError, ToolError } from 'toolexec';

const divide = defineTool({
  name: 'divide',
  description: 'Divides a by b.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  effects: () => [],
  execute({ a, b }) {
    if (b === 0) throw new ToolError('execution_failed', 'division by zero', { details: { a } });
    return String(a / b);
  },
});
const wait = defineTool({
  name: 'wait',
  description: 'Waits until it is stopped.',
  input: { type: 'object' },
  effects: () => [],
  timeoutMs: 50,
  execute: (_args, { signal }) =>
    new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
});

await using executor = createExecutor({ tools: [divide, wait] });

// #region errors
const failed = await executor.execute('divide', { a: 1, b: 0 });
if (!failed.success) console.log(failed.error.code, failed.error.message, failed.error.details);

try {
  await executor.invoke('wait', {});
} catch (error) {
  if (!isToolError(error, 'timeout')) throw error;
  console.log(error.message);
}
// #endregion errors

assert.equal(failed.error?.message, 'divide failed: division by zero');
assert.deepEqual(failed.error.details, { a: 1, executed: 'yes' });
const [unknown] = await executor.run([{ id: '1', name: 'divid', args: {} }]);
assert.equal(unknown?.error?.code, 'unknown_tool');
assert.match(unknown.error.message, /divide/);
