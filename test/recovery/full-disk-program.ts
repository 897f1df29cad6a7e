// Runs file tools in directories on small disks, and prints each answer with the content of the directory.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolCall } from '../../src/contract/call.js';
import { createExecutor } from '../../src/executor/create-executor.js';

const [around = ''] = process.argv.slice(2);
const LARGE = 'x'.repeat(200_000);

const SCENARIOS: Readonly<Record<string, Pick<ToolCall, 'name' | 'args'>>> = {
  written: { name: 'write_file', args: { path: 'deep/er/new', content: LARGE } },
  appended: { name: 'write_file', args: { path: 'there', content: LARGE, mode: 'append' } },
  edited: { name: 'edit_file', args: { path: 'there', old_string: 'old', new_string: LARGE } },
  patched: {
    name: 'apply_patch',
    args: {
      patch: `*** Begin Patch\n*** Add File: deep/small\n+1\n*** Add File: deep/er/new\n+${LARGE}\n*** End Patch`,
    },
  },
  // No inode is left: the bytes would fit, but no directory can be created.
  crowded: { name: 'write_file', args: { path: 'deep/er/new', content: 'small' } },
};

const told: Record<string, unknown> = {};
for (const [disk, call] of Object.entries(SCENARIOS)) {
  const root = join(around, disk);
  writeFileSync(join(root, 'there'), 'old');
  if (disk !== 'crowded') writeFileSync(join(root, 'filler'), Buffer.alloc(900_000));
  const executor = createExecutor({
    root,
    journal: join(around, 'state', `${disk}.db`),
    approver: null,
    policy: null,
  });
  const [result] = await executor.run([{ id: 'one', ...call }]);
  const names = readdirSync(root, { recursive: true }).map(String);
  told[disk] = { error: result?.error, names: names.filter((name) => name !== 'filler').sort() };
  await executor.close();
}
console.log(JSON.stringify(told));
