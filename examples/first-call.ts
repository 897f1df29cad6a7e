// The shortest way through: a model's response in, the next request's results out.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region use
import { createExecutor } from 'toolexec';
import { readCalls } from 'toolexec/protocols';

// #endregion use

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'notes.txt'), 'buy milk\n');
const response = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'notes.txt' } }],
};

try {
  // #region use
  await using executor = createExecutor({ root: workspace });
  const { calls, answer } = readCalls(response);
  const results = await executor.run(calls);
  const message = answer(results);
  // #endregion use
  assert.deepEqual(message, {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'buy milk\n' }],
  });
  console.log(JSON.stringify(message));
} finally {
  rmSync(workspace, { recursive: true });
}
