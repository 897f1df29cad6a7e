import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { applyPlan } from '../../src/commands/transaction/apply-plan.js';
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
    }));

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
