// Permission modes auto, ask and deny, with allowed and disallowed tools under any of their names.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region modes
import { type Approver, createExecutor, type ExecutorOptions } from 'toolexec';
import type { PolicyRule } from 'toolexec/policy';

interface Permissions {
  readonly mode: 'auto' | 'ask' | 'deny';
  /** Empty: every tool. */
  readonly allowed: readonly string[];
  readonly disallowed: readonly string[];
}

function permit(permissions: Permissions, approver: Approver): Pick<ExecutorOptions, 'policy' | 'approver'> {
  const { mode, allowed, disallowed } = permissions;
  // A rule that names tools is more precise than one that names none.
  const only: PolicyRule[] = [{ decision: 'deny' }, { decision: 'allow', tool: allowed }];
  const rules: PolicyRule[] = mode === 'deny' ? [{ decision: 'deny' }] : allowed.length === 0 ? [] : only;
  return {
    policy: { mode: 'auto', denylist: disallowed, rules },
    // Mode auto asks no question, not even for tools that require approval.
    approver: mode === 'auto' ? null : approver,
  };
}
// #endregion modes

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'a.txt'), 'text');

/** The outcomes of a read and of a command, and how often the person is asked. */
async function outcomes(permissions: Permissions, agrees: boolean): Promise<string> {
  let asked = 0;
  const approver: Approver = () => {
    asked++;
    return agrees ? { kind: 'approve_all' } : { kind: 'deny_all' };
  };
  await using executor = createExecutor({ root: workspace, ...permit(permissions, approver) });
  const read = await executor.execute('read_file', { path: 'a.txt' });
  const command = await executor.execute('bash', { command: 'true' });
  const results = [read, command].map(({ error }) => error?.code ?? 'ok');
  return `${results.join(', ')}; asked ${asked}`;
}

try {
  const all = { allowed: [], disallowed: [] };
  assert.equal(await outcomes({ mode: 'auto', ...all }, false), 'ok, ok; asked 0');
  assert.equal(await outcomes({ mode: 'ask', ...all }, true), 'ok, ok; asked 1');
  assert.equal(await outcomes({ mode: 'ask', ...all }, false), 'ok, user_denied; asked 1');
  assert.equal(await outcomes({ mode: 'deny', ...all }, true), 'policy_denied, policy_denied; asked 0');
  for (const name of ['Read', 'read_file', 'file_read']) {
    assert.equal(
      await outcomes({ mode: 'auto', allowed: [name], disallowed: [] }, true),
      'ok, policy_denied; asked 0',
    );
    assert.equal(
      await outcomes({ mode: 'auto', allowed: [], disallowed: [name] }, true),
      'denylisted, ok; asked 0',
    );
  }
  // A disallowed call is refused, even if it is also allowed.
  assert.equal(
    await outcomes({ mode: 'auto', allowed: ['Bash', 'Read'], disallowed: ['bash'] }, true),
    'ok, denylisted; asked 0',
  );
} finally {
  rmSync(workspace, { recursive: true });
}
