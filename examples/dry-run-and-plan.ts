// Two ways to look ahead: a plan touches nothing and asks no question; a dry run also runs the calls that
// only read.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor } from 'toolexec';

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'a.txt'), 'alpha');
const calls = [
  { id: '1', name: 'read_file', args: { path: 'a.txt' } },
  { id: '2', name: 'write_file', args: { path: 'b.txt', content: 'beta' } },
  { id: '3', name: 'read_file', args: { path: '../secret' } },
];
try {
  await using executor = createExecutor({ root: workspace });
  // #region plan
  const plan = await executor.plan(calls);
  for (const { callId, disposition, risk, effects, reason } of plan.calls) {
    console.log(callId, disposition, risk, JSON.stringify(effects), reason);
  }
  const results = await executor.run(calls, { dryRun: true });
  // #endregion plan
  assert.deepEqual(
    plan.calls.map(({ disposition }) => disposition),
    ['execute_now', 'requires_confirmation', 'pre_resolved'],
  );
  assert.equal(results[0]?.output, 'alpha');
  assert.match(results[1]?.output ?? '', /^\[Dry Run\] /);
  assert.equal(results[2]?.error?.code, 'sandbox_violation');
  assert.equal(existsSync(join(workspace, 'b.txt')), false);
} finally {
  rmSync(workspace, { recursive: true });
}
