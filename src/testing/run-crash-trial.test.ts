import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { CrashTrial } from './crash-trial.js';
import { runCrashTrial } from './run-crash-trial.js';

const TOOLS = join(tmpdir(), `toolexec-check-trial-${process.pid}.mjs`);
writeFileSync(TOOLS, `export default { name: 'note', description: 'd', input: {}, execute: () => 'noted' };`);
afterAll(() => rmSync(TOOLS));
const calls = [{ name: 'note', args: {} }];

it.each<[string, unknown, string]>([
  ['no trial', undefined, 'needs tools'],
  ['no tools', {}, 'needs tools'],
  ['tools of another kind', { tools: 5 }, 'trial.tools must be an absolute path or a file: URL, got 5'],
  ['an option that there is not', { tools: TOOLS, calls, randomKill: 1 }, 'Unknown option trial.randomKill'],
  [
    'less than no kills',
    { tools: TOOLS, calls, randomKills: -1 },
    'trial.randomKills must be a whole number',
  ],
  ['half a kill', { tools: TOOLS, calls, stepKills: 0.5 }, 'trial.stepKills must be a whole number'],
  ['calls that are none', { tools: TOOLS, calls: [null] }, 'trial.calls must be a list'],
  ['an observer that cannot look', { tools: TOOLS, calls, observe: {} }, 'trial.observe must be a function'],
  [
    'a knowable call that is not in it',
    { tools: TOOLS, calls, knowable: ['note'] },
    'trial.knowable names "note", which is not a call of the trial. Its calls: call_0.',
  ],
])('a crash trial with %s does not begin', async (_, trial, message) => {
  await expect(runCrashTrial(trial as CrashTrial)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(message),
  });
});
