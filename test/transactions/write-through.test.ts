import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/contract/call.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'write-through-')));
  const git = 'git init -q && git config user.name a && git config user.email a@example.com';
  outside(`${git} && mkdir src && echo a >src/a && git add src && git commit -qm first`);
  writeFileSync(join(root, '.env'), 'SECRET');
});
afterEach(() => removeTree(root));

const outside = (command: string): string =>
  execFileSync('/bin/sh', ['-c', command], { cwd: root, encoding: 'utf8' });

const RULE = {
  decision: 'allow',
  tool: 'bash',
  command: ['git mv *', 'cat *'],
  write_through: true,
} as const;
const PLAIN = { decision: 'allow', tool: 'bash', command: 'echo *' } as const;

async function run(command: string, options: ExecutorOptions = {}): Promise<ToolResult> {
  const policy = { rules: [RULE, PLAIN] };
  const executor = createExecutor({ root, approver: null, policy, sandbox: { os: 'required' }, ...options });
  try {
    return await executor.execute('bash', { command });
  } finally {
    await executor.close();
  }
}

const APART = { sandbox: { kind: 'bubblewrap', wall: 'bubblewrap', network: false, transaction: true } };
const THROUGH = {
  sandbox: {
    transaction: false,
    transaction_reason: 'the rule that allows it says write_through',
    kind: 'bubblewrap',
    wall: 'bubblewrap',
    network: false,
  },
};

describe.skipIf(WHY_NOT !== '')(`a command that a rule lets write through${WHY_NOT}`, () => {
  it('can rename existing directories, and its changes take effect at once', async () => {
    expect((await run('echo a >b')).metadata).toMatchObject(APART);
    const moved = await run('git mv src lib');
    expect(moved).toMatchObject({ success: true, metadata: THROUGH });
    expect(moved.metadata).not.toHaveProperty('changes');
    expect(outside('git status --porcelain')).toContain('R  src/a -> lib/a');
  });

  it('names the rule that it needs', { tags: ['soak'] }, async () => {
    const { output, metadata } = await run('git mv src lib', {
      policy: { rules: [{ ...RULE, write_through: false }] },
    });
    expect(metadata).toMatchObject(APART);
    expect(output).toContain('a rule with write_through = true');
    expect(existsSync(join(root, 'src', 'a'))).toBe(true);
  });

  it('sees no secret, and writes no protected file', async () => {
    const { output } = await run('cat .env .git/config > copy');
    expect(output).not.toContain('SECRET');
    expect(outside('cat copy')).not.toContain('SECRET');
    await run('cat copy > .git/config');
    await run('cat copy > .git/hooks/pre-commit');
    expect(outside('git config user.name; ls .git/hooks')).not.toContain('pre-commit\n');
  });

  it('does so only if such a rule allows each of its parts', { tags: ['soak'] }, async () => {
    for (const command of ['cat src/a; echo b', 'cat src/a > $(echo b)', 'cat src/a | echo', 'echo b'])
      expect((await run(command)).metadata, command).toMatchObject(APART);
    expect((await run('cat src/a | cat')).metadata).toMatchObject(THROUGH);
  });

  it('does not do so if the person was asked, because of another rule or the analysis', {
    tags: ['soak'],
  }, async () => {
    const approver = () => ({ kind: 'approve_all' }) as const;
    const rules = [RULE, { decision: 'ask', tool: 'bash', command: 'cat src/a' } as const];
    expect((await run('cat src/a', { approver, policy: { rules } })).metadata).toMatchObject(APART);
    expect((await run('cat src/a; $x', { approver })).metadata).toMatchObject(APART);
  });

  it('does not do so if a transaction is required, or in a preview', { tags: ['soak'] }, async () => {
    const required = { os: 'required', transactions: 'required' } as const;
    expect((await run('cat src/a', { sandbox: required })).metadata).toMatchObject(APART);
    const executor = createExecutor({ root, approver: null, policy: { rules: [RULE] } });
    const preview = await executor.preview([{ id: 'a', name: 'bash', args: { command: 'cat src/a > c' } }]);
    expect(preview.changes.created).toEqual(['c']);
    await preview.discard();
    await executor.close();
    expect(existsSync(join(root, 'c'))).toBe(false);
  });

  it('does not do so by a rule of an untrusted project', { tags: ['soak'] }, async () => {
    const tiers = { project: [RULE] };
    const approver = () => ({ kind: 'approve_all' }) as const;
    expect((await run('cat src/a', { approver, policy: { tiers } })).metadata).toMatchObject(APART);
    const trusted = await run('cat src/a', { policy: { tiers, projectMayAllow: true } });
    expect(trusted.metadata).toMatchObject(THROUGH);
    const loosened = await run('cat src/a', {
      approver,
      policy: {
        tiers: { user: [{ ...RULE, write_through: false }], project: [RULE] },
        projectMayAllow: true,
      },
    });
    expect(loosened.metadata).toMatchObject(APART);
  });
});
