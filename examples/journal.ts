// With a journal on disk a call that is delivered twice, also to another process, runs once.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor, defineTool, openJournal } from 'toolexec';

let sent = 0;
const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  effects: ({ to }) => [{ kind: 'fetch', url: `mailto:${to}` }],
  execute: ({ to }) => `Sent mail ${++sent} to ${to}.`,
});

const folder = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const file = join(folder, 'journal.db');
const call = { id: 'toolu_1', name: 'send_mail', args: { to: 'ada@example.org' } };

async function deliver(): Promise<string> {
  // #region journal
  await using executor = createExecutor({ tools: [sendMail], journal: file, approver: null });
  const [result] = await executor.run([call], { conversation: 'thread-7' });
  // #endregion journal
  return result?.output ?? '';
}

try {
  assert.equal(await deliver(), 'Sent mail 1 to ada@example.org.');
  // The same id, arguments and conversation: answered from the journal.
  assert.equal(await deliver(), 'Sent mail 1 to ada@example.org.');
  assert.equal(sent, 1);

  const journal = openJournal(file);
  const record = await journal.find('thread-7', 'toolu_1');
  assert.equal(record?.state, 'done');
  assert.deepEqual(record.effects, [{ kind: 'fetch', url: 'mailto:ada@example.org' }]);
  await journal.close();
  console.log(`${record.toolName} ${record.state}: ${record.result?.output}`);
} finally {
  rmSync(folder, { recursive: true });
}
