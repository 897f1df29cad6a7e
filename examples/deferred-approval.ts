// If no person is there to ask, a batch can wait for approval: in the journal, beyond its process.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor } from 'toolexec';

const folder = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const records = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const journal = join(records, 'journal.db');
const calls = [{ id: 'toolu_1', name: 'write_file', args: { path: 'new.txt', content: 'new\n' } }];

async function atNight(): Promise<string> {
  await using executor = createExecutor({ root: folder, journal });
  // #region defer
  const run = executor.start(calls, { conversation: 'thread-7', defer: true });
  const [pending] = await run.results;
  // #endregion defer
  assert.equal(pending?.error?.code, 'approval_unavailable');
  assert.equal(pending.metadata.pending, true);
  return run.id;
}

async function inTheMorning(batchId: string): Promise<void> {
  await using executor = createExecutor({ root: folder, journal });
  // #region approve
  const run = await executor.approve(batchId, { approver: () => ({ kind: 'approve_all', by: 'ada' }) });
  const [result] = await run.results;
  // #endregion approve
  assert.equal(result?.success, true);
}

try {
  const batchId = await atNight();
  assert.equal(existsSync(join(folder, 'new.txt')), false);
  await inTheMorning(batchId);
  assert.equal(existsSync(join(folder, 'new.txt')), true);
  console.log('deferred, approved, written');
} finally {
  rmSync(folder, { recursive: true });
  rmSync(records, { recursive: true });
}
