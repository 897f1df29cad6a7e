// Kills processes that run a tool, and looks whether its calls still have one truthful answer each.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
// #region kit
import { runCrashTrial } from 'toolexec/testing';

const verdict = await runCrashTrial({
  tools: new URL('./crash-kit/outbox.mjs', import.meta.url),
  randomKills: 2,
});
console.log(verdict.report);
// #endregion kit
assert.ok(verdict.passed, verdict.report);
assert.ok(verdict.kills >= 8, verdict.report);
assert.deepEqual(Object.keys(verdict.answers).sort(), ['cancelled', 'ok']);
rmSync(process.env.OUTBOX ?? '', { force: true });
