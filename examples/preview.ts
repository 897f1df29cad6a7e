// See first, then decide: calls run out of sight of other programs. Their changes are then committed
// together, or discarded.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor, isToolError } from 'toolexec';

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'notes.txt'), 'alpha\n');
const calls = [
  { id: '1', name: 'bash', args: { command: 'echo beta >> notes.txt; mkdir made' } },
  { id: '2', name: 'read_file', args: { path: 'notes.txt' } },
];
try {
  await using executor = createExecutor({ root: workspace, approver: () => ({ kind: 'approve_all' }) });
  // #region preview
  await using preview = await executor.preview(calls);
  console.log(preview.results); // as if everything were approved
  console.log(preview.changes); // what all calls together have created, modified, deleted
  console.log(preview.parts); // every path that changes, and the texts, for describeRequest
  console.log(preview.requests); // what the approver would be asked
  const before = readFileSync(join(workspace, 'notes.txt'), 'utf8');
  const results = await preview.commit(); // asks the approver, commits it as one, records it
  // #endregion preview
  assert.equal(before, 'alpha\n');
  assert.deepEqual(preview.changes.modified, ['notes.txt']);
  assert.match(results[1]?.output ?? '', /alpha[\s\S]*beta/);
  assert.equal(existsSync(join(workspace, 'made')), true);
} catch (error) {
  // Not every machine can keep changes apart.
  if (!isToolError(error, 'sandbox_violation')) throw error;
  console.log(error.message);
} finally {
  rmSync(workspace, { recursive: true });
}
