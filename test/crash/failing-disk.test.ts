import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { builtCommand } from '../cli/built-command.js';

/*
 * The system calls with which the journal writes are made to fail, one after the other, by strace. `TOOLEXEC_DISK_FAULTS=all`
 * tries every call, failing once, four times and permanently; otherwise every second sync fails once, and every sixth
 * permanently.
 */

const run = promisify(execFile);
const DOOR = pathToFileURL(join(dirname(dirname(builtCommand())), 'index.js')).href;
const PROGRAM = join(import.meta.dirname, 'pay-on-failing-disk.mjs');
const ALL = process.env.TOOLEXEC_DISK_FAULTS === 'all';
const canInject = spawnSync('strace', ['-qq', '-e', 'inject=getpid:error=EIO', 'true']).status === 0;

interface Delivery {
  readonly success: boolean;
  readonly output: string;
  readonly code?: string;
  readonly executed?: string;
  readonly recorded?: boolean;
  readonly replayed?: boolean;
}

const HOW = {
  once: (n: number) => `${n}`,
  'four times': (n: number) => `${n}..${n + 3}`,
  'for good': (n: number) => `${n}+`,
};
type How = keyof typeof HOW;

async function deliver(
  folder: string,
  times: 'once' | 'twice',
  before: readonly string[] = [],
): Promise<Delivery[][]> {
  const [program = process.execPath, ...options] = before;
  const args = [...options, ...(before.length > 0 ? [process.execPath] : []), PROGRAM, DOOR, folder, times];
  const { stdout } = await run(program, args, { timeout: 60_000 });
  return JSON.parse(stdout) as Delivery[][];
}

/** The error after one fault; undefined if there was no call left to make fail. */
async function faultAt(
  call: string,
  error: string,
  nth: number,
  how: How,
): Promise<readonly string[] | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-disk-'));
  try {
    const trace = join(folder, 'trace');
    const journal = join(folder, 'journal.db');
    const inject = `inject=${call}:error=${error}:when=${HOW[how](nth)}`;
    const only = [journal, `${journal}-wal`].flatMap((path) => ['-P', path]);
    const strace = ['strace', '-f', '-qq', '-o', trace, '-e', `trace=${call}`, '-e', inject, ...only];
    const first = await deliver(folder, 'twice', strace);
    if (!readFileSync(trace, 'utf8').includes('INJECTED')) return undefined;
    const later = await deliver(folder, 'once');
    const ledger = join(folder, 'ledger');
    const paid = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];
    return first.flatMap(([one, two], index) => {
      const runs = paid.filter((id) => id === `pay_${index}`).length;
      const [after] = later[index] ?? [];
      const faults = flawsOf(one as Delivery, two as Delivery, after as Delivery, runs);
      return faults.map((fault) => `${call} ${nth} ${how}, call ${index}: ${fault}`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function flawsOf(one: Delivery, two: Delivery, after: Delivery, runs: number): readonly string[] {
  const flaws: string[] = [];
  if (runs > 1) flaws.push(`it ran ${runs} times`);
  if (one.success && one.recorded === undefined && !(after.success && after.replayed === true))
    flaws.push('acknowledged, and lost for the next process');
  if (one.success && !(two.success && two.output === one.output))
    flaws.push('another answer in the same process');
  if (one.executed === 'no' && runs > 0 && !two.success && !after.success)
    flaws.push('said not to have run, and it has');
  if (after.executed === 'no' && runs > 0) flaws.push('said later not to have run, and it has');
  return flaws;
}

async function faultsOf(call: string, error: string, how: How, step: number): Promise<readonly string[]> {
  const flaws: string[] = [];
  let tried = 0;
  for (let nth = 1; nth < 500; nth += 2 * step) {
    // Two at the same time: the machine may have two processors.
    const found = await Promise.all([nth, nth + step].map((at) => faultAt(call, error, at, how)));
    flaws.push(...found.flatMap((each) => each ?? []));
    tried += found.filter((each) => each !== undefined).length;
    if (found.includes(undefined)) break;
  }
  expect(tried).toBeGreaterThan(2);
  return flaws;
}

describe.skipIf(!canInject)('a journal whose disk fails (skipped where strace cannot inject errors)', () => {
  const cases: readonly (readonly [string, string, How, number])[] = ALL
    ? (['once', 'four times', 'for good'] as const).flatMap((how) => [
        ['fsync', 'EIO', how, 1] as const,
        ['pwrite64', 'ENOSPC', how, 1] as const,
      ])
    : [
        ['fsync', 'EIO', 'once', 2],
        ['fsync', 'EIO', 'for good', 6],
      ];
  it.each(cases)(
    'by %s %s, %s: loses no acknowledged answer, changes none, runs nothing twice',
    async (...at) => {
      expect(await faultsOf(...at)).toEqual([]);
    },
    1_200_000,
  );
});
