// Counts a number in a file up, by edits and patches, as often as it is told to, once its input ends: whoever loses a
// race reads anew.
import { once } from 'node:events';
import { createExecutor } from '../../src/executor/create-executor.ts';

const [root = '', name = '', count = '0'] = process.argv.slice(2);
const executor = createExecutor({ root, policy: null, approver: null, journal: false });
process.stdout.write('ready ');
await once(process.stdin.resume(), 'end');
let stale = 0;
for (let done = 0; done < Number(count); ) {
  const [read] = await executor.run([{ id: 'r', name: 'read_file', args: { path: 'log' } }], {
    conversation: name,
  });
  const now = /^count: (\d+)$/m.exec(read.output)?.[0] ?? '';
  const next = `count: ${Number(now.slice(7)) + 1}`;
  const line = `${name} ${done}`;
  const call =
    done % 2 === 0
      ? { name: 'edit_file', args: { path: 'log', old_string: now, new_string: `${next}\n${line}` } }
      : { name: 'apply_patch', args: { patch: `LP1\nF log\nR\n${now}\n.\n${next}\n${line}\n.\nEND\n` } };
  const [answer] = await executor.run([{ id: 'w', ...call }], { conversation: name });
  if (answer.success) done++;
  else if (answer.error.code === 'stale_file') stale++;
  else throw new Error(`${answer.error.code}: ${answer.error.message}`);
}
await executor.close();
process.stdout.write(`stale: ${stale}`);
