// The question, the decision and the run as three requests, each of which may be another process.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor } from 'toolexec';

const folder = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const records = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const options = { root: folder, journal: join(records, 'journal.db') };
const call = { id: 'toolu_1', name: 'write_file', args: { path: 'new.txt', content: 'new\n' } };
const conversation = 'thread-7';

async function ask(): Promise<string> {
  await using executor = createExecutor(options);
  // #region ask
  const { needed, request, ticket } = await executor.ask(call, { conversation });
  // #endregion ask
  assert.equal(needed, true);
  assert.equal(request?.summary, 'Create new.txt (4 bytes)');
  return ticket;
}

async function decide(ticket: string): Promise<void> {
  await using executor = createExecutor(options);
  // #region decide
  await executor.decide(ticket, { kind: 'approve_all', by: 'ada' });
  // #endregion decide
}

async function run(ticket: string): Promise<void> {
  await using executor = createExecutor(options);
  const changed = { ...call, args: { path: 'other.txt', content: '' } };
  const [refused] = await executor.run([changed], { conversation, ticket });
  assert.equal(refused?.error?.code, 'approval_unavailable');
  // #region run
  const [result] = await executor.run([call], { conversation, ticket });
  // #endregion run
  assert.equal(result?.success, true);
  const [again] = await executor.run([call], { conversation, ticket });
  assert.equal(again?.metadata.replayed, true);
}

try {
  const ticket = await ask();
  await decide(ticket);
  assert.equal(existsSync(join(folder, 'new.txt')), false);
  await run(ticket);
  assert.equal(existsSync(join(folder, 'new.txt')), true);
  console.log('asked, decided, ran once');
} finally {
  rmSync(folder, { recursive: true });
  rmSync(records, { recursive: true });
}
