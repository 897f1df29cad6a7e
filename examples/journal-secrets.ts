// Arguments that the journal leaves out: the call runs with them, is recognised again, and no byte of the file holds them.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor, defineTool } from 'toolexec';

const logIn = defineTool({
  name: 'log_in',
  description: 'Logs in.',
  input: { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string' } } },
  execute: ({ user, password }) => `${user} is logged in with ${password}`,
});
const folder = mkdtempSync(join(tmpdir(), 'toolexec-'));
const path = join(folder, 'journal.db');
const call = { id: 'toolu_1', name: 'log_in', args: { user: 'anna', password: 'correct-horse' } };

// #region secrets
await using executor = createExecutor({
  tools: [logIn],
  approver: null,
  journal: { path, redactArguments: ['log_in/password', '*/headers/**'] },
});
const [result] = await executor.run([call], { conversation: 'thread-7' });
const [again] = await executor.run([call], { conversation: 'thread-7' });
// #endregion secrets

assert.equal(result?.output, 'anna is logged in with correct-horse');
assert.equal(again?.output, 'anna is logged in with [REDACTED]');
assert.equal(again?.metadata.replayed, true);
await executor.close();
for (const name of readdirSync(folder)) {
  assert.equal(readFileSync(join(folder, name), 'latin1').includes('correct-horse'), false);
}
rmSync(folder, { recursive: true });
