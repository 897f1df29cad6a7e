import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NotPlanned, TransactionPlan } from '../../commands/transaction/transaction-plan.js';
import { systemClock } from '../../platform/clock/clock.js';
import { recoveredChanges, recoverTransactions } from './recover-transactions.js';

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'settle-')));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** A process that died as soon as its plan to create one file was on the disk. */
function dieWithPlan(leftOut: readonly NotPlanned[]): { root: string; directory: string } {
  const root = join(place, 'root');
  const directory = join(place, `transaction-${'0'.repeat(24)}-${'1'.repeat(16)}`);
  for (const path of [root, join(directory, 'old'), join(directory, '0/upper')])
    mkdirSync(path, { recursive: true });
  const from = join(directory, '0/upper/made');
  writeFileSync(from, 'made');
  const plan: TransactionPlan = {
    ...{ version: 1, roots: [root], exitCode: 0, onConflict: 'keep_rest', leftOut },
    changes: [{ change: 'create', kind: 'file', root: 0, path: 'made', from }],
  };
  writeFileSync(join(directory, 'plan.json'), JSON.stringify(plan));
  return { root, directory };
}

async function settle({ root, directory }: { root: string; directory: string }) {
  const data = { transaction: directory, state: 'begun', network: false };
  const notes = await recoverTransactions([{ kind: 'process', at: 0, data }], {
    clock: systemClock,
    sandbox: { roots: [root] },
  });
  expect(existsSync(join(root, 'made'))).toBe(true);
  return recoveredChanges(notes);
}

const left = { root: 0, path: 'a', isDirectory: false };

describe('what recovery says of a commit that it completes', () => {
  it('lists what was left out without harm, like an ordinary result', async () => {
    const refused = { ...left, reason: 'it is neither a file, a directory nor a link', isConflict: false };
    expect(await settle(dieWithPlan([refused]))).toMatchObject({
      settled: 'whole',
      changes: { created: ['made'], refused: [{ path: 'a', reason: refused.reason }] },
    });
  });

  it('is not a success if another program had changed the same files, and the rest was to be kept', async () => {
    const conflict = {
      ...left,
      reason: 'another program changed it while the command ran',
      isConflict: true,
    };
    expect(await settle(dieWithPlan([conflict]))).toMatchObject({
      settled: 'conflict',
      changes: { created: ['made'], conflicts: [{ path: 'a', reason: conflict.reason }] },
    });
  });

  it('is a success where nothing was left out', async () => {
    expect(await settle(dieWithPlan([]))).toMatchObject({ settled: 'whole', changes: { created: ['made'] } });
  });
});
