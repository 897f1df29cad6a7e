// A chain of validators: a blacklist of texts in commands, patterns of paths. The first that fails refuses the call, and
// says which text or pattern matched.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region validators
import { createExecutor } from 'toolexec';
import type { PolicyRule } from 'toolexec/policy';

const blacklist: PolicyRule = { decision: 'deny', contains: ['rm -rf /', 'dd if=', 'mkfs', ':(){'] };
const paths: PolicyRule = {
  decision: 'deny',
  effect: ['read', 'write', 'delete'],
  path: ['.env', '.ssh', '*.pem'],
  match: ['.env', 'home/.ssh/id_rsa', 'a/KEY.PEM'],
  not_match: 'environment.ts',
};
// #endregion validators

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
let asked = 0;
try {
  await using executor = createExecutor({
    root: workspace,
    // Without the sandbox's own refusal of keys and credentials, the rules decide here.
    sandbox: { includeDefaultDenies: false },
    policy: { denylist: [], rules: [blacklist, paths] },
    approver: () => {
      asked++;
      return { kind: 'deny_all' };
    },
  });
  const results = await executor.run([
    { id: '1', name: 'bash', args: { command: 'echo "never mkfs a disk"' } },
    { id: '2', name: 'read_file', args: { path: 'deep/.env' } },
    { id: '3', name: 'write_file', args: { path: 'certificates/server.pem', content: '' } },
  ]);
  for (const { error } of results) console.log(error?.code, error?.message);
  assert.deepEqual(
    results.map(({ error }) => error?.code),
    ['policy_denied', 'policy_denied', 'policy_denied'],
  );
  assert.match(results[0]?.error?.message ?? '', /it matches "mkfs"/);
  assert.match(results[1]?.error?.message ?? '', /Read deep\/\.env is denied: it matches "\.env"/);
  assert.match(
    results[2]?.error?.message ?? '',
    /Write certificates\/server\.pem is denied: it matches "\*\.pem"/,
  );
  // Refused before anybody was asked: the chain stops at the first failure.
  assert.equal(asked, 0);
} finally {
  rmSync(workspace, { recursive: true });
}
