import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readDone } from '../../src/commands/transaction/sweep-transactions.js';
import { type DonePlan, isAsPrinted } from '../../src/commands/transaction/transaction-plan.js';
import type { ToolResult } from '../../src/contract/call.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { toBinary } from '../../src/platform/fs/binary-fs.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { builtCommand } from '../cli/built-command.js';
import type { Places } from './plan-maker.js';

/** The outcomes of the trials. */
export interface KillTally {
  /** Killed while the changes were committed; a later process has recovered. */
  readonly completed: number;
  /** The same, but another program had changed a file before: nothing was kept, or the rest, and the result says so. */
  readonly conflicts: number;
  /** It had committed everything before the kill. */
  readonly ended: number;
  /** The wrong outcomes. */
  readonly wrong: readonly string[];
}

const PREPARE =
  'mkdir -p old gone; perl -e \'for (1 .. 700) { open F, ">", "old/$_"; print F "old $_" } for (1 .. 650) { open F, ">", "gone/$_"; print F $_ }\'';
/** 2,000 changes of every kind, including changes of an entry's type. */
const COMMAND =
  'mkdir new whole; perl -e \'for (1 .. 345) { open F, ">", "new/$_"; print F "new $_" } for (1 .. 300) { open F, ">", "whole/$_"; print F "new $_" } for (1 .. 698) { open F, ">>", "old/$_"; print F " more" } unlink "old/699"; mkdir "old/699"; symlink "699", "old/link"; unlink "old/700"\'; rm -r gone';

const CHANGED = 'old/650';
/** No change of a command creates it. */
const LEFT_OUT = 'new/pipe';

/**
 * Kills processes while they commit the 2,000 changes of a command, and, after a later process has recovered, compares
 * the root with the plan of the killed process. In each third trial another program changes a file in between.
 * @param random gives numbers from 0 to 1
 */
export async function killCommits(trials: number, random: () => number, places: Places): Promise<KillTally> {
  const dist = pathToFileURL(dirname(dirname(builtCommand()))).href;
  const tally = { completed: 0, conflicts: 0, ended: 0, wrong: [] as string[] };
  const parent = places === 'one file system' ? tmpdir() : '/dev/shm';
  const template = realpathSync(mkdtempSync(join(tmpdir(), 'kills-template-')));
  outside(template, PREPARE);
  const before = look(template);
  const after = afterCommand(template);
  let commitMs = 300;
  try {
    for (let trial = 0; trial < trials; trial++) {
      const around = realpathSync(mkdtempSync(join(tmpdir(), 'kills-')));
      const root = realpathSync(mkdtempSync(join(parent, 'kills-root-')));
      const journal = join(around, 'journal.db');
      outside(root, `cp -a ${template}/. .`);
      try {
        const order = JSON.stringify({
          dist,
          root,
          journal,
          call: { name: 'bash', args: { command: `${COMMAND}; mkfifo ${LEFT_OUT}` } },
        });
        const killed = await killWhileItCommits(order, `${journal}-transactions`, random() * commitMs);
        if (killed === undefined) {
          // Every kill should happen during the commit.
          commitMs = Math.max(20, commitMs * 0.9);
          tally.ended++;
        } else commitMs = Math.min(2000, commitMs * 1.03);
        const isDisturbed = trial % 3 === 2 && killed !== undefined && look(root) !== after;
        if (isDisturbed) appendFileSync(join(root, CHANGED), ' of others');
        const result = await recoveredResult(root, journal);
        const said = sayOf(result);
        const done = doneIn(`${journal}-transactions`);
        const wrong = whatIsWrong(root, { said, done, result, before, after });
        if (wrong !== undefined) {
          tally.wrong.push(`trial ${trial} (${killed ?? 'ended'}): ${said}: ${wrong}`);
          // Printed immediately: when the test reaches its time limit, the tally is lost.
          console.error(tally.wrong.at(-1), JSON.stringify(result?.error ?? result?.metadata));
        } else if (said === 'ok' && killed !== undefined) tally.completed++;
        else if (killed !== undefined) tally.conflicts++;
      } finally {
        removeTree(around);
        removeTree(root);
      }
    }
  } finally {
    removeTree(template);
  }
  return tally;
}

interface Recovered {
  readonly said: string;
  readonly done: DonePlan | undefined;
  readonly result: ToolResult | undefined;
  readonly before: string;
  readonly after: string;
}

/** Undefined if the result describes the root correctly. */
function whatIsWrong(root: string, { said, done, result, before, after }: Recovered): string | undefined {
  const left = outside(root, "find . -name '.toolexec-*'");
  if (left !== '') return `something of ours is left: ${left}`;
  const state = look(root).replace(/^.* of others\n/m, '');
  if (done === undefined) return state === before && said.endsWith(' no') ? undefined : 'it has no plan';
  if (said === 'ok') {
    if (done.failed.length > 0) return `${done.failed.length} changes failed`;
    const refused = JSON.stringify(result?.metadata.changes ?? {});
    if (!refused.includes(LEFT_OUT)) return 'what was left out is not listed';
    if (look(root) === after) return undefined;
    // Another program has changed a committed entry.
    return differsIn(look(root), after) <= 1 ? undefined : 'not everything is there';
  }
  if (!said.startsWith('conflict')) return 'neither a success nor a conflict';
  const listed = JSON.stringify(result?.metadata.changes ?? {});
  if (!listed.includes(CHANGED)) return `the conflict is not listed: ${listed.slice(0, 200)}`;
  if (done.isTakenBack === true) {
    return differsIn(look(root), before) <= 1 && said === 'conflict no' ? undefined : 'it is not as it was';
  }
  return said === 'conflict yes' ? unlikePlan(root, done) : 'a part was made';
}

/** The first change that is made but not listed as made, or the other way round. */
function unlikePlan(root: string, { changes, failed }: DonePlan): string | undefined {
  const isFailed = new Set(failed.map(({ index }) => index));
  for (const [index, { path, after, change }] of changes.entries()) {
    const at = `${toBinary(root)}/${path}`;
    const isRemade =
      change === 'delete' && changes.some((one) => one.path === path && one.change === 'create');
    if (isFailed.has(index) || isRemade || isAsPrinted(at, after)) continue;
    return `${path} is not as the list says`;
  }
  return undefined;
}

function differsIn(one: string, other: string): number {
  const known = new Set(other.split('\n'));
  return one.split('\n').filter((line) => !known.has(line)).length;
}

/** @returns how many milliseconds after the plan was on the disk; undefined if everything was done by then */
async function killWhileItCommits(
  order: string,
  transactions: string,
  delayMs: number,
): Promise<number | undefined> {
  const program = join(import.meta.dirname, 'change-and-tell.mjs');
  const child = spawn(process.execPath, [program, order], { stdio: ['ignore', 'ignore', 'inherit'] });
  const closed = once(child, 'close');
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  while (!isClosed && fileIn(transactions, 'plan.json') === undefined) await pause(1);
  const begun = performance.now();
  await pause(delayMs);
  child.kill('SIGKILL');
  await closed;
  const isDone = fileIn(transactions, 'done.json') !== undefined;
  return isDone ? undefined : Math.round(performance.now() - begun);
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

function fileIn(transactions: string, name: string): string | undefined {
  if (!existsSync(transactions)) return undefined;
  return readdirSync(transactions)
    .filter((each) => each.startsWith('transaction-'))
    .map((each) => join(transactions, each))
    .find((directory) => existsSync(join(directory, name)));
}

function doneIn(transactions: string): DonePlan | undefined {
  const directory = fileIn(transactions, 'done.json');
  return directory === undefined ? undefined : readDone(directory);
}

async function recoveredResult(root: string, journal: string): Promise<ToolResult | undefined> {
  await using executor = createExecutor({ root, journal, approver: null });
  await executor.recover();
  const record = openJournal(journal);
  try {
    return (await record.find('c', 'c'))?.result;
  } finally {
    await record.close();
  }
}

function sayOf(result: ToolResult | undefined): string {
  if (result === undefined) return 'none';
  return result.error === undefined ? 'ok' : `${result.error.code} ${String(result.error.details?.executed)}`;
}

function afterCommand(template: string): string {
  const root = mkdtempSync(join(tmpdir(), 'kills-after-'));
  try {
    outside(root, `cp -a ${template}/. .; ${COMMAND}`);
    return look(root);
  } finally {
    removeTree(root);
  }
}

/** One line for each entry. */
function look(root: string): string {
  return outside(
    root,
    'find . -mindepth 1 ! -type f -printf "%p %y %m %l\\n" | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0r md5sum; find . -type f ! -perm 644 -printf "%p %m\\n"',
  );
}

function outside(root: string, command: string): string {
  mkdirSync(root, { recursive: true });
  return execFileSync('/bin/sh', ['-c', `umask 022; ${command}`], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}
