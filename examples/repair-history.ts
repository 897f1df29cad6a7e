// After a crash a call has no result, and the provider refuses the conversation. The journal supplies the
// result.
import assert from 'node:assert/strict';
import { createExecutor, defineTool, openJournal } from 'toolexec';
import { repairHistory } from 'toolexec/protocols';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an invoice.',
  input: { type: 'object', properties: { invoice: { type: 'string' } }, required: ['invoice'] },
  effects: () => [{ kind: 'unknown' }],
  execute: ({ invoice }) => `Paid ${invoice}.`,
});

const use = (id: string, invoice: string) => ({ type: 'tool_use', id, name: 'pay', input: { invoice } });
const messages: { role: string; content: unknown }[] = [
  { role: 'user', content: 'Pay both.' },
  { role: 'assistant', content: [use('toolu_1', 'A-1'), use('toolu_2', 'A-2')] },
];

const journal = openJournal(':memory:');
await using executor = createExecutor({ tools: [pay], journal, approver: null });
await executor.run([{ id: 'toolu_1', name: 'pay', args: { invoice: 'A-1' } }], { conversation: 'thread-7' });
// Here the program died: the model has not got the result of either call.

// #region repair
const { history, changes } = await repairHistory(messages, {
  find: async (callId) => (await journal.find('thread-7', callId))?.result,
});
for (const { at, message } of changes) console.log(`[${at}] ${message}`);
// #endregion repair

assert.deepEqual(
  changes.map(({ kind, callId, result }) => [kind, callId, result]),
  [
    ['missing_result', 'toolu_1', 'found'],
    ['missing_result', 'toolu_2', 'unknown'],
  ],
);
const answers = JSON.stringify(history.at(-1));
assert.match(answers, /"tool_use_id":"toolu_1","content":"Paid A-1\."/);
assert.match(answers, /"tool_use_id":"toolu_2","content":"Error: The outcome of this call is unknown/);
assert.equal(repairHistory(history).history, history);
await journal.close();
