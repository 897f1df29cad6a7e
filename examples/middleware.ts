// Middleware wraps the execution of every approved call; the first is the outermost.
import assert from 'node:assert/strict';
import { createExecutor, createMetrics, createTiming, defineTool, type Middleware } from 'toolexec';

const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  effects: () => [],
  execute: ({ n }) => String(n * 2),
});

// #region middleware
const order: string[] = [];
const note: Middleware = async (call, { risk }, next) => {
  order.push(`before ${call.name} (${risk})`);
  const result = await next();
  order.push(`after ${result.output}`);
  return { ...result, metadata: { ...result.metadata, noted: true } };
};
const metrics = createMetrics();
const timing = createTiming({
  clock: { monotonic: () => performance.now() },
  report: (call, ms) => console.log(`${call.name} took ${ms.toFixed(1)} ms`),
});

await using executor = createExecutor({
  tools: [double],
  middleware: [note, timing, metrics.middleware],
});
// #endregion middleware

const result = await executor.execute('double', { n: 21 });
assert.equal(result.output, '42');
assert.equal(result.metadata.noted, true);
assert.deepEqual(order, ['before double (low)', 'after 42']);
assert.equal(metrics.snapshot().double?.successfulExecutions, 1);
