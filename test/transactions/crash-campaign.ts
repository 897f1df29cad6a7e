import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ToolResult } from '../../src/contract/call.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { discoverTools } from '../../src/executor/discover-tools.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { builtCommand } from '../cli/built-command.js';
import { addProgram } from './tool-workshop.js';

/** The outcomes of the trials. */
export interface Tally {
  /** The process was killed, and none of the command's changes exist. */
  readonly nothing: number;
  /** The process was killed, and all of the command's changes exist. */
  readonly everything: number;
  /** The process had ended before the kill. */
  readonly ended: number;
  /** The wrong outcomes: half of the changes exist, or the result does not match. */
  readonly wrong: readonly string[];
}

const PREPARE =
  'mkdir -p old/deep keep; for i in $(seq 60); do echo $i >old/$i; echo $i >old/deep/$i; done; echo c >changed; echo m >moved; ln -s changed link';
/** Writes, deletes and renames. */
const COMMAND =
  'mkdir new; for i in $(seq 60); do echo $i >new/$i; done; rm -r old/deep; mv moved keep/moved; echo more >>changed; for i in $(seq 30); do echo x >>old/$i; done; rm link; ln -s new link';

/** The tool that runs it: `bash`, or an external program in the sandbox. */
export type Runner = 'command' | 'external tool';

/**
 * Kills processes at random instants of a command, and checks the outcome after a later process has recovered.
 * @param random gives numbers from 0 to 1
 */
export async function crashCampaign(
  trials: number,
  random: () => number,
  runner: Runner = 'command',
): Promise<Tally> {
  const dist = pathToFileURL(dirname(dirname(builtCommand()))).href;
  const before = stateOf((root) => outside(root, PREPARE));
  const after = stateOf((root) => outside(root, `${PREPARE}; ${COMMAND}`));
  const tally = { nothing: 0, everything: 0, ended: 0, wrong: [] as string[] };
  // The duration of an undisturbed command; a busy machine takes longer.
  let longestMs = 0;
  for (let trial = 0; trial < trials; trial++) {
    const around = realpathSync(mkdtempSync(join(tmpdir(), 'crash-')));
    const [root, journal] = [join(around, 'root'), join(around, 'journal.db')];
    const tools = runner === 'command' ? undefined : join(around, 'tools');
    mkdirSync(root);
    outside(root, PREPARE);
    if (tools !== undefined) {
      mkdirSync(tools, { mode: 0o755 });
      addProgram(join(tools, 'change'), `${COMMAND}; echo true`);
    }
    try {
      const call = tools === undefined ? BASH : { name: 'change', args: {} };
      const order = JSON.stringify({ dist, root, journal, tools, call });
      const killAfterMs = trial === 0 ? undefined : random() * longestMs;
      const took = await runAndKill(order, killAfterMs);
      if (took !== undefined) longestMs = Math.max(longestMs, took);
      const result = await recoveredResult(root, journal, tools);
      const state = look(root);
      if (took !== undefined) tally.ended++;
      else if (state === before) tally.nothing++;
      else tally.everything++;
      const said = sayOf(result);
      const isRight =
        state === before ? said === 'cancelled no' || said === 'none' : state === after && said === 'ok';
      const is = state === before ? 'before' : state === after ? 'after' : 'neither';
      const more = `missing: ${differs(after, state)}; more: ${differs(state, after)}`;
      if (!isRight) tally.wrong.push(`trial ${trial}: ${said}, ${is}; ${is === 'neither' ? more : ''}`);
    } finally {
      removeTree(around);
    }
  }
  return tally;
}

const BASH = { name: 'bash', args: { command: COMMAND } };

/** @returns how long it took; undefined if it was killed */
async function runAndKill(order: string, killAfterMs: number | undefined): Promise<number | undefined> {
  const program = join(import.meta.dirname, 'change-and-tell.mjs');
  const child = spawn(process.execPath, [program, order], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), closed]);
  const begun = performance.now();
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [code, signal]: unknown[] = await closed;
  if (signal === 'SIGKILL') return undefined;
  if (code !== 0) throw new Error(`it ended with ${String(code ?? signal)}`);
  return performance.now() - begun;
}

async function recoveredResult(
  root: string,
  journal: string,
  tools: string | undefined,
): Promise<ToolResult | undefined> {
  await using external = await discoverTools(tools ?? [], { stateDirectory: false });
  await using executor = createExecutor({ root, journal, approver: null, external });
  await executor.recover();
  const record = openJournal(journal);
  try {
    return (await record.find('c', 'c'))?.result;
  } finally {
    await record.close();
  }
}

/** The lines of one text that the other does not have. */
function differs(one: string, other: string): string {
  const known = new Set(other.split('\n'));
  return one
    .split('\n')
    .filter((line) => !known.has(line))
    .slice(0, 5)
    .join(', ');
}

function sayOf(result: ToolResult | undefined): string {
  if (result === undefined) return 'none';
  return result.error === undefined ? 'ok' : `${result.error.code} ${String(result.error.details?.executed)}`;
}

function stateOf(prepare: (root: string) => void): string {
  const root = mkdtempSync(join(tmpdir(), 'crash-'));
  try {
    prepare(root);
    return look(root);
  } finally {
    removeTree(root);
  }
}

function look(root: string): string {
  return outside(
    root,
    'find . -printf "%p %y %l\\n" | LC_ALL=C sort; find . -type f | LC_ALL=C sort | xargs -r cat',
  );
}

function outside(root: string, command: string): string {
  return execFileSync('/bin/sh', ['-c', command], { cwd: root, encoding: 'utf8' });
}
