// Runs every example, and begins no other once one has failed. Each checks its own result; they use the built package.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
/** It kills a process at each of its steps, and is begun first. */
const LONGEST = 'crash-kit.ts';

interface Program {
  readonly name: string;
  readonly loader: readonly string[];
}

const names = readdirSync(join(ROOT, 'examples'))
  .filter((name) => name.endsWith('.ts') && name !== LONGEST)
  .sort();
const programs: Program[] = [LONGEST, ...names].map((name) => ({
  name: `examples/${name}`,
  loader: ['--import', 'tsx'],
}));
const firstRun = 'examples/first-run/run.mjs';
if (existsSync(join(ROOT, firstRun))) programs.push({ name: firstRun, loader: [] });

const execute = promisify(execFile);

/** @returns whether it ended well */
async function run({ name, loader }: Program): Promise<boolean> {
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  const child = execute(process.execPath, [...loader, name], { cwd: ROOT, timeout: 120_000 });
  child.child.stdin?.end();
  try {
    await child;
    console.log(`ok   ${name} ${tookMs()} ms`);
    return true;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { readonly stdout: string; readonly stderr: string };
    console.error(`FAIL ${name} ${tookMs()} ms (${message.split('\n', 1)[0]})\n${stdout}${stderr}`);
    return false;
  }
}

const waiting = [...programs];
let isWell = true;
async function runOneAfterTheOther(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined && isWell; next = waiting.shift())
    if (!(await run(next))) isWell = false;
}
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runOneAfterTheOther));
if (isWell) console.log(`${programs.length} examples ran.`);
else process.exitCode = 1;
