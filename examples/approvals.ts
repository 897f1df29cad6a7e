// Everything that needs a person is asked at once, before anything runs; they agree to all, some or none.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region approver
import { type Approver, createExecutor } from 'toolexec';

const approver: Approver = (requests) => {
  for (const { callId, toolName, risk, summary } of requests) {
    console.log(`${callId} ${toolName} (${risk}): ${summary}`);
  }
  return {
    kind: 'approve_selected',
    ids: ['w1', 'w2'],
    // Other arguments for a call: they are validated and planned again before it runs.
    edits: { w2: { path: 'b.txt', content: 'as the person wants it' } },
    // The model reads this.
    reasons: { c1: 'not on this machine' },
  };
};
// #endregion approver

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
try {
  await using executor = createExecutor({ root: workspace, approver });
  const results = await executor.run([
    { id: 'w1', name: 'write_file', args: { path: 'a.txt', content: 'one' } },
    { id: 'w2', name: 'write_file', args: { path: 'b.txt', content: 'two' } },
    { id: 'c1', name: 'bash', args: { command: 'touch c.txt' } },
  ]);
  assert.deepEqual(
    results.map(({ success, error }) => error?.code ?? success),
    [true, true, 'user_denied'],
  );
  assert.equal(results[2]?.error?.message, 'User denied permission to run bash: not on this machine');
  assert.equal(readFileSync(join(workspace, 'b.txt'), 'utf8'), 'as the person wants it');
  assert.equal(existsSync(join(workspace, 'c.txt')), false);

  // Without an approver, what needs approval is refused; it never runs by default.
  await using unattended = createExecutor({ root: workspace });
  const refused = await unattended.execute('bash', { command: 'touch c.txt' });
  assert.equal(refused.error?.code, 'approval_unavailable');
} finally {
  rmSync(workspace, { recursive: true });
}
