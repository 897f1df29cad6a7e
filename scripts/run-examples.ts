// Runs every example and stops at the first that fails. Each checks its own result; they use the built package.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const programs = readdirSync(join(ROOT, 'examples'))
  .filter((name) => name.endsWith('.ts'))
  .sort()
  .map((name) => ({ name: `examples/${name}`, loader: ['--import', 'tsx'] }));
const firstRun = 'examples/first-run/run.mjs';
if (existsSync(join(ROOT, firstRun))) programs.push({ name: firstRun, loader: [] });
if (programs.length === 0) throw new Error('There are no examples to run.');

for (const { name, loader } of programs) {
  const startedAt = performance.now();
  const { status, signal, stdout, stderr, error } = spawnSync(process.execPath, [...loader, name], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const ms = Math.round(performance.now() - startedAt);
  if (status === 0) {
    console.log(`ok   ${name} ${ms} ms`);
    continue;
  }
  console.error(
    `FAIL ${name} ${ms} ms (${error?.message ?? signal ?? `exit code ${status}`})\n${stdout}${stderr}`,
  );
  process.exitCode = 1;
  break;
}
if (process.exitCode !== 1) console.log(`${programs.length} examples ran.`);
