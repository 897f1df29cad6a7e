import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../src/executor/builtin-tools.js';
import { createExecutor } from '../src/executor/create-executor.js';
import { removeTree } from '../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './transactions/kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const COMMANDS = ['everyday', 'everyday-more'].flatMap((name) =>
  readFileSync(new URL(`../src/policy/shell/fixtures/${name}.txt`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('## ')),
);

describe.skipIf(WHY_NOT !== '')(`commands of every day${WHY_NOT}`, () => {
  it('are not asked about before they run in the profile "contained"', async () => {
    expect(COMMANDS.length).toBeGreaterThan(600);
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'everyday-')));
    await using executor = createExecutor({
      root,
      tools: builtinTools(),
      journal: false,
      profile: 'contained',
      limits: { maxToolCallsPerBatch: COMMANDS.length },
    });
    const calls = COMMANDS.map((command, index) => ({ id: `${index}`, name: 'bash', args: { command } }));
    const { calls: planned } = await executor.plan(calls);
    const others = planned.flatMap(({ disposition, reason }, index) =>
      disposition === 'execute_now' ? [] : [`${COMMANDS[index]}: ${reason}`],
    );
    expect(others).toEqual([]);
    removeTree(root);
  });
});
