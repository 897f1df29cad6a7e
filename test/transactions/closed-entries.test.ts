import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { applyPlan, applySteps } from '../../src/commands/transaction/apply-plan.js';
import { recoverTransaction } from '../../src/commands/transaction/sweep-transactions.js';
import { unprivileged } from '../../src/platform/fixtures/unprivileged.js';
import { PlanMaker } from './plan-maker.js';

/** Created by the user who applies the plan. */
function open(): PlanMaker {
  const maker = new PlanMaker('one file system');
  onTestFinished(() => maker.remove());
  return maker;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('a plan of a user who may not write or read everything', () => {
  it('bug: a new file in two read-only directories was created, counted as a conflict, and stayed', () =>
    unprivileged(() => {
      const maker = open();
      const [there, ours] = [join(maker.root, 'd'), maker.upper('d')];
      for (const directory of [there, ours]) mkdirSync(directory);
      for (const name of ['g', 'h']) writeFileSync(join(ours, name), name);
      // The directory in the root is opened for the first change, ours only when its name is removed.
      writeFileSync(join(there, 'f'), 'f');
      maker.add('delete', 'd/f');
      maker.add('create', 'd/g');
      maker.add('create', 'd/h');
      for (const directory of [there, ours]) chmodSync(directory, 0o555);
      const { failed } = applyPlan(maker.plan, maker.directory);
      expect(failed).toEqual([]);
      expect(['f', 'g', 'h'].filter((name) => existsSync(join(there, name)))).toEqual(['g', 'h']);
      expect([statSync(join(there, 'g')).nlink, modeOf(there)]).toEqual([1, 0o555]);
      // If the rest of a plan is tried again later, its mode may be another one.
      expect(existsSync(join(maker.directory, 'opened.jsonl'))).toBe(false);
    }));

  it.each(['completes', 'undoes'])(
    'bug: a process that died inside a read-only directory left it writable, and so did the one that %s the rest',
    (what) =>
      unprivileged(() => {
        const maker = open();
        mkdirSync(join(maker.root, 'd/deep'), { recursive: true });
        mkdirSync(maker.upper('d/deep'), { recursive: true });
        for (const path of ['d/a', 'd/deep/b']) {
          writeFileSync(join(maker.root, path), 'old');
          writeFileSync(maker.upper(path), 'new');
          maker.add('modify', path);
        }
        writeFileSync(join(maker.root, 'last'), 'old');
        maker.add('delete', 'last');
        chmodSync(join(maker.root, 'd/deep'), 0o555);
        chmodSync(join(maker.root, 'd'), 0o500);
        const plan = { ...maker.plan, onConflict: 'takeBack' } as const;
        writeFileSync(join(maker.directory, 'plan.json'), JSON.stringify(plan));
        // Like a killed process: its last step is taken, and nothing follows.
        const steps = applySteps(plan, maker.directory);
        for (let taken = 0; taken < 2; taken++) steps.next();
        expect(['d', 'd/deep'].map((path) => modeOf(join(maker.root, path)))).toEqual([0o700, 0o755]);
        if (what === 'undoes') writeFileSync(join(maker.root, 'last'), 'of others');
        const { state } = recoverTransaction(maker.directory);
        expect(state).toBe(what === 'undoes' ? 'discarded' : 'committed');
        expect(['d', 'd/deep'].map((path) => modeOf(join(maker.root, path)))).toEqual([0o500, 0o555]);
        expect(readFileSync(join(maker.root, 'd/deep/b'), 'utf8')).toBe(what === 'undoes' ? 'old' : 'new');
        expect(existsSync(join(maker.directory, 'opened.jsonl'))).toBe(false);
      }),
  );

  it('bug: a file that the command had made unreadable was committed, counted as a conflict, and stayed', () =>
    unprivileged(() => {
      const maker = open();
      writeFileSync(join(maker.root, 'a'), 'old');
      for (const name of ['a', 'b']) {
        writeFileSync(maker.upper(name), 'new');
        chmodSync(maker.upper(name), 0o200);
      }
      maker.add('modify', 'a');
      maker.add('create', 'b');
      const { failed, made } = applyPlan(maker.plan, maker.directory);
      expect([failed, [...made.keys()]]).toEqual([[], [0, 1]]);
      expect(['a', 'b'].map((name) => modeOf(join(maker.root, name)))).toEqual([0o200, 0o200]);
    }));
});
