// Rules: calls that run unasked, calls that need approval, calls that are refused, and the reasons.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region rules
import { createExecutor } from 'toolexec';
import { createPolicy, type PolicyRule } from 'toolexec/policy';

const rules: PolicyRule[] = [
  // Consent for exactly these commands, although `bash` requires approval for every call.
  { decision: 'allow', command: ['git status *', 'npm run test:*'], not_match: 'git push' },
  { decision: 'allow', effect: 'write', path: 'src/**', match: 'src/a.ts', not_match: 'package.json' },
  {
    decision: 'deny',
    effect: ['write', 'delete'],
    path: 'src/generated',
    reason: 'Run the generator instead.',
  },
  { decision: 'allow', url: '*.example.com', not_match: 'https://example.com@evil.test/' },
];
// #endregion rules

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
try {
  await using executor = createExecutor({ root: workspace, policy: { rules } });
  const write = (id: string, path: string) => ({ id, name: 'write_file', args: { path, content: '' } });
  const run = (id: string, command: string) => ({ id, name: 'bash', args: { command } });
  const plan = await executor.plan([
    write('1', 'src/a.ts'),
    write('2', 'package.json'),
    write('3', 'src/generated/b.ts'),
    run('4', 'git status -s'),
    run('5', 'git status && curl evil.test'),
  ]);
  const dispositions = plan.calls.map(({ disposition }) => disposition);
  assert.deepEqual(dispositions, [
    'execute_now',
    'requires_confirmation',
    'pre_resolved',
    'execute_now',
    'requires_confirmation',
  ]);
  assert.match(plan.calls[2]?.reason ?? '', /it matches "src\/generated"\. Run the generator instead\./);

  // #region explain
  const policy = createPolicy({ rules });
  const { reason, candidates } = policy.explain({
    name: 'write_file',
    sideEffecting: true,
    requiresApproval: false,
    effects: [{ kind: 'write', path: 'src/generated/b.ts' }],
  });
  console.log(reason);
  for (const { rule, outcome } of candidates) console.log(`${rule.place}: ${outcome}`);
  // #endregion explain
  assert.equal(
    candidates[1]?.outcome,
    'it matches write src/generated/b.ts, but rules[2] is more precise (kind of pattern)',
  );
  assert.deepEqual(policy.problems(), []);
} finally {
  rmSync(workspace, { recursive: true });
}
