import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { applyPlan } from '../../src/commands/transaction/apply-plan.js';
import {
  commitPlan,
  readDone,
  recoverTransaction,
} from '../../src/commands/transaction/sweep-transactions.js';
import { takeBackPlan } from '../../src/commands/transaction/take-back.js';
import type { DonePlan } from '../../src/commands/transaction/transaction-plan.js';
import { type Places, PlanMaker, pictureOf, placesHere } from './plan-maker.js';

const made: PlanMaker[] = [];
afterEach(() => {
  for (const maker of made.splice(0)) maker.remove();
});

function open(places: Places): PlanMaker {
  const maker = new PlanMaker(places);
  made.push(maker);
  return maker;
}

/** One of each kind of change, with that of `last` at the end. */
function everyChange(places: Places): PlanMaker {
  const maker = open(places);
  const { root } = maker;
  const files = { gone: 'gone', a: 'a', 'tree/in/t': 't', 'd1/x': 'x', last: 'old' };
  for (const [path, text] of Object.entries(files)) put(join(root, path), text);
  chmodSync(join(root, 'a'), 0o751);
  symlinkSync('a', join(root, 'link'));
  const upper = { 'new/deep/n': 'new', 'whole/in/w': 'w', a: 'A', top: 'top', last: 'LAST' };
  for (const [path, text] of Object.entries(upper)) put(maker.upper(path), text);
  symlinkSync('elsewhere', maker.upper('link'));
  mkdirSync(maker.upper('d1'), { mode: 0o700 });
  maker.add('delete', 'gone');
  maker.add('delete', 'tree/in/t', places === 'one file system' ? { isInside: true } : {});
  maker.add('delete', 'tree/in', places === 'one file system' ? { isInside: true } : {});
  maker.add('delete', 'tree', places === 'one file system' ? { isTree: true } : {});
  maker.add('create', 'new');
  maker.add('create', 'new/deep');
  maker.add('create', 'new/deep/n');
  if (places === 'one file system') {
    const from = maker.upper('whole');
    maker.add('create', 'whole/in/w', { isInside: true });
    maker.add('create', 'whole/in', { isInside: true });
    maker.add('create', 'whole', { isTree: true, from });
  } else for (const path of ['whole', 'whole/in', 'whole/in/w']) maker.add('create', path);
  maker.add('create', 'top');
  maker.add('modify', 'a');
  maker.add('modify', 'link');
  maker.add('modify', 'd1');
  maker.add('modify', 'last');
  return maker;
}

function put(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

const commit = ({ directory, plan }: PlanMaker): Promise<DonePlan> =>
  commitPlan(directory, plan, { onConflict: 'takeBack' });

describe.each(placesHere())('a plan that is applied completely or not at all, on %s', (places) => {
  it('is applied, and returns prints of the committed entries', async () => {
    const maker = everyChange(places);
    const { failed, isTakenBack } = await commit(maker);
    expect({ failed, isTakenBack }).toEqual({ failed: [], isTakenBack: undefined });
    expect(pictureOf(maker.root)).toMatchObject({ a: expect.stringMatching(/ A$/), link: '-> elsewhere' });
    const done = readDone(maker.directory);
    const a = done?.changes.find(({ path }) => path === 'a');
    expect(a?.after?.content).toMatch(/^[0-9a-f]{64}$/);
  });

  it('can be repeated from any step: entries that moved with their directory are gone already', () => {
    const maker = open(places);
    for (const path of ['gone/1', 'gone/in/2']) put(join(maker.root, path), path);
    for (const path of ['gone/1', 'gone/in/2', 'gone/in', 'gone']) maker.add('delete', path);
    expect(applyPlan(maker.plan, maker.directory).failed).toEqual([]);
    expect(applyPlan(maker.plan, maker.directory, { isAgain: true }).failed).toEqual([]);
    expect(readdirSync(maker.root)).toEqual([]);
    // Another plan has removed it.
    const other = open(places);
    put(join(other.root, 'gone/1'), 'x');
    for (const path of ['gone/1', 'gone']) other.add('delete', path);
    rmSync(join(other.root, 'gone'), { recursive: true });
    expect(applyPlan(other.plan, other.directory, { isAgain: true }).failed).toMatchObject([
      { index: 0, isConflict: true },
    ]);
  });

  it('leaves everything as before, and the new versions in their prepared places', async () => {
    const maker = everyChange(places);
    const before = pictureOf(maker.root);
    const prepared = pictureOf(maker.upper('.'));
    chmodSync(join(maker.root, 'last'), 0o600);
    const { failed, isTakenBack, left } = await commit(maker);
    expect({ isTakenBack, left }).toEqual({ isTakenBack: true, left: undefined });
    expect(failed).toHaveLength(maker.changes.length);
    expect(failed.filter(({ isConflict }) => isConflict)).toMatchObject([{ index: 14 }]);
    expect(pictureOf(maker.root)).toEqual({ ...before, last: '600 old' });
    expect(pictureOf(maker.upper('.'))).toEqual(prepared);
    expect(readdirSync(join(maker.directory, 'old'))).toEqual([]);
    expect(existsSync(join(maker.directory, 'plan.json'))).toBe(false);
    expect(recoverTransaction(maker.directory)).toMatchObject({ state: 'discarded' });
  });

  it('leaves files that another program has changed again, and says so', async () => {
    const maker = everyChange(places);
    // Steps are taken as if nothing were wrong; other programs interfere before the steps are undone.
    const { made: steps } = applyPlan(maker.plan, maker.directory);
    writeFileSync(join(maker.root, 'top'), 'of others');
    writeFileSync(join(maker.root, 'gone'), 'of others');
    writeFileSync(join(maker.root, 'new/deep/more'), 'of others');
    rmSync(join(maker.root, 'last'));
    const left = takeBackPlan(maker.plan, maker.directory, steps);
    expect(left.map(({ index }) => maker.changes[index]?.path)).toEqual(['gone', 'new', 'new/deep', 'top']);
    expect(pictureOf(maker.root)).toMatchObject({
      gone: expect.stringContaining('of others'),
      top: expect.stringContaining('of others'),
      'new/deep/more': expect.stringContaining('of others'),
      a: '751 a',
      'tree/in/t': expect.stringContaining('t'),
    });
    expect(existsSync(join(maker.root, 'last'))).toBe(false);
    expect(existsSync(join(maker.root, 'new/deep/n'))).toBe(false);
  });

  it('does not remove a directory into which other programs have moved files', async () => {
    const maker = everyChange(places);
    put(join(maker.root, 'thesis/chapter'), 'years of work');
    renameSync(join(maker.root, 'thesis'), join(maker.root, 'tree/in/thesis'));
    const before = pictureOf(maker.root);
    expect(await commit(maker)).toMatchObject({ isTakenBack: true });
    expect(pictureOf(maker.root)).toEqual(before);
  });

  const tags = places === 'one file system' ? [] : ['soak'];
  it('is undone by the next process if this one dies in between', { tags }, () => {
    for (let killed = 0; killed <= 12; killed++) {
      const maker = everyChange(places);
      const before = pictureOf(maker.root);
      const plan = { ...maker.plan, onConflict: 'takeBack' as const };
      const { made: steps } = applyPlan(plan, maker.directory);
      writeFileSync(join(maker.directory, 'plan.json'), JSON.stringify(plan));
      writeFileSync(join(maker.directory, 'back.json'), JSON.stringify({ failed: [], made: [...steps] }));
      const taken = [...steps].filter(([index]) => index >= 12 - killed);
      takeBackPlan(plan, maker.directory, new Map(taken));
      expect(recoverTransaction(maker.directory)).toMatchObject({ state: 'discarded' });
      expect(pictureOf(maker.root)).toEqual(before);
    }
  });
});

describe.each(placesHere())('a power loss between the two steps that replace a file, on %s', (places) => {
  it('leaves its old version where the next process finds it', () => {
    const maker = open(places);
    writeFileSync(join(maker.root, 'a'), 'old');
    writeFileSync(maker.upper('a'), 'new');
    maker.add('modify', 'a');
    const plan = { ...maker.plan, onConflict: 'takeBack' } as const;
    const { made: done } = applyPlan(plan, maker.directory);
    const old = join(maker.directory, 'old/0');
    renameSync(old, `${old}.kept`);
    expect(takeBackPlan(plan, maker.directory, new Map(done))).toEqual([]);
    expect(readFileSync(join(maker.root, 'a'), 'utf8')).toBe('old');
  });
});
