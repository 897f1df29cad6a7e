// Four calls against a journal whose disk may fail: argv is the built door, the folder, and `twice` to deliver each
// call a second time. Prints what became of each delivery, one JSON array.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const [door, folder, times] = process.argv.slice(2);
const { createExecutor, defineTool } = await import(door);
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object' },
  execute: (_, { callId }) => {
    appendFileSync(join(folder, 'ledger'), `${callId}\n`);
    return `paid ${callId}`;
  },
});
const executor = createExecutor({
  tools: [pay],
  root: folder,
  journal: join(folder, 'journal.db'),
  policy: null,
  approver: null,
  timeouts: { defaultMs: 5_000 },
});
const seen = [];
for (let index = 0; index < 4; index++) {
  const deliveries = [];
  for (let count = times === 'twice' ? 2 : 1; count > 0; count--) {
    const call = { id: `pay_${index}`, name: 'pay', args: {} };
    const [{ success, output, error, metadata }] = await executor.run([call], { conversation: 'c' });
    const { recorded, replayed } = metadata;
    deliveries.push({
      success,
      output,
      code: error?.code,
      executed: error?.details.executed,
      recorded,
      replayed,
    });
  }
  seen.push(deliveries);
}
// The disk may refuse to the end: what could not be written is then left to recovery.
await executor.close().catch(() => {});
process.stdout.write(JSON.stringify(seen));
