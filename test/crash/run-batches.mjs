// Runs batches of one call against a journal until told otherwise: argv is the built door, the journal, the ledger
// that the tool writes to, and how many. Prints what became of each, one JSON array.
import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [door, journal, ledger, count] = process.argv.slice(2);
const { createExecutor, defineTool } = await import(door);
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object' },
  execute: (_, { callId }) => {
    appendFileSync(ledger, `${callId}\n`);
    return 'paid '.repeat(2000);
  },
});
const executor = createExecutor({
  tools: [pay],
  root: dirname(ledger),
  journal,
  policy: null,
  approver: null,
});
const seen = [];
for (let index = 0; index < Number(count); index++) {
  const [result] = await executor.run([{ id: `pay_${index}`, name: 'pay', args: {} }], { conversation: 'c' });
  seen.push({ id: result.callId, ok: result.success, error: result.error });
}
await executor.close();
process.stdout.write(JSON.stringify(seen));
