// Watching a batch while it runs, and cancelling it.
import assert from 'node:assert/strict';
import { createExecutor } from 'toolexec';

await using executor = createExecutor({ approver: null });

// #region events
const run = executor.start([
  { id: 'c1', name: 'bash', args: { command: 'echo one; echo two >&2' } },
  { id: 'c2', name: 'bash', args: { command: 'echo ready; sleep 60' } },
]);
const seen: string[] = [];
for await (const event of run.events) {
  seen.push(`${event.callId} ${event.type}`);
  if (event.type === 'stdout' || event.type === 'stderr') process.stdout.write(event.chunk);
  if (event.type === 'stdout' && event.callId === 'c2') run.cancel('seen enough');
}
const results = await run.results;
// #endregion events

assert.deepEqual(
  seen.filter((line) => line.startsWith('c1') && !line.includes('std')),
  ['c1 planned', 'c1 started', 'c1 completed'],
);
assert.ok(seen.includes('c1 stdout') && seen.includes('c1 stderr'));
assert.equal(results[0]?.success, true);
assert.equal(results[1]?.error?.code, 'cancelled');
// In a transaction none of its changes was kept; without one, it may have had effects.
const { transaction } = results[1].metadata.sandbox as { transaction?: boolean };
assert.equal(results[1].error.details?.executed, transaction === true ? 'no' : 'maybe');
