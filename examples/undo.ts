// The file changes of a call can be undone, and the undo can be undone too.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor } from 'toolexec';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const file = join(root, 'notes.txt');
writeFileSync(file, 'first\n');

try {
  await using executor = createExecutor({ root, approver: null });
  const call = {
    id: 'toolu_1',
    name: 'write_file',
    args: { path: 'notes.txt', content: 'second\n', mode: 'overwrite' },
  };
  await executor.run([call], { conversation: 'thread-7' });
  assert.equal(readFileSync(file, 'utf8'), 'second\n');

  // #region undo
  const { restored, skipped, undoId } = await executor.undo('toolu_1');
  // #endregion undo
  assert.equal(readFileSync(file, 'utf8'), 'first\n');
  assert.equal(restored.length, 1);
  assert.deepEqual(skipped, []);

  assert.ok(undoId);
  await executor.undo(undoId);
  assert.equal(readFileSync(file, 'utf8'), 'second\n');
  console.log('undone, and done again');
} finally {
  rmSync(root, { recursive: true });
}
