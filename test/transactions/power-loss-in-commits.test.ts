import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { recoverTransaction } from '../../src/commands/transaction/sweep-transactions.js';
import { commitUndo, planTransactionUndo, undoDirectory } from '../../src/commands/transaction/undo-plan.js';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { someOf } from '../../src/testing/fixtures/share-of-runs.js';
import { type LoopDisk, unmount, useDisks } from '../power-loss/loop-disks.js';
import { PlanMaker, pictureOf } from './plan-maker.js';

const PROGRAM = resolve(import.meta.dirname, '../power-loss/commit-plan.ts');
/** Where a kill may come. Those of other threads are not counted. */
const CALLS = 'rename,link,symlink,unlink,unlinkat,mkdir,rmdir,fsync,chmod,utimensat';

const disks = useDisks();
const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const WHY_NOT = disks.noDisk ?? (canTrace ? undefined : 'strace may not trace here');
const folder = mkdtempSync(join(tmpdir(), 'toolexec-cuts-'));
const bound: string[] = [];
afterAll(() => {
  for (const place of bound) spawnSync('umount', ['--lazy', place]);
  rmSync(folder, { recursive: true, force: true });
});

/** The writes that reached a disk before the power loss: the synced ones, those and all names, or all. */
const REACHED = ['synced', 'names', 'all'] as const;
type Reached = (typeof REACHED)[number];

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A plan with each kind of change, in a root and a transaction's directory that are on the disk. */
class Trial {
  readonly maker: PlanMaker;
  readonly before: Readonly<Record<string, string>>;
  readonly #disks: readonly LoopDisk[];
  readonly #images: readonly string[];
  readonly #plan = join(mkdtempSync(join(folder, 'trial-')), 'plan.json');
  readonly #remount: () => void;

  constructor(places: readonly [near: string, far: string], used: readonly LoopDisk[], remount = () => {}) {
    this.maker = new PlanMaker(places);
    this.#disks = used;
    this.#remount = remount;
    const { maker } = this;
    const files = { gone: 'gone', a: 'a', b: 'b', 'tree/in/t': 't', kind: 'kind' };
    for (const [path, text] of Object.entries(files))
      put(join(maker.root, path), `old ${text}\n`.repeat(900));
    symlinkSync('a', join(maker.root, 'link'));
    const upper = { 'new/deep/n': 'n', a: 'a', b: 'b', top: 'top', 'kind/in': 'in' };
    for (const [path, text] of Object.entries(upper)) put(maker.upper(path), `new ${text}\n`.repeat(1200));
    symlinkSync('elsewhere', maker.upper('link'));
    for (const path of ['gone', 'tree/in/t', 'tree/in', 'tree', 'kind']) maker.add('delete', path);
    for (const path of ['kind', 'kind/in', 'new', 'new/deep', 'new/deep/n', 'top']) maker.add('create', path);
    for (const path of ['a', 'b', 'link']) maker.add('modify', path);
    this.before = pictureOf(maker.root);
    writeFileSync(this.#plan, JSON.stringify(maker.plan));
    for (const disk of used) disk.sync();
    this.#images = used.map((disk) => disk.image());
  }

  /** Commits, and is killed at a call. @returns the calls */
  commit(cut?: Cut): readonly string[] {
    const kill = cut === undefined ? [] : ['-e', `inject=${cut.call}:signal=KILL:when=${cut.nth}`];
    const trace = join(folder, 'trace');
    const program = [process.execPath, bundleProgram(PROGRAM), this.maker.directory, this.#plan];
    const run = ['-qq', '-y', '-o', trace, '-e', `trace=${CALLS}`, ...kill, ...program];
    const { status, signal, stderr } = spawnSync('strace', run, { encoding: 'utf8' });
    // The number of calls differs by one or two, so the last kill may come too late.
    expect(status === 0 || signal === 'SIGKILL', stderr).toBe(true);
    return readFileSync(trace, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('+++') && !line.startsWith('---'));
  }

  /** @param reached for each disk */
  losePower(reached: readonly Reached[]): void {
    for (const [index, disk] of this.#disks.entries()) {
      if (reached[index] === 'names') disk.syncNames();
      if (reached[index] === 'all') disk.sync();
    }
    const images = this.#disks.map((disk) => disk.image());
    this.#restore(images);
    // Hundreds of cuts would fill the memory.
    for (const image of images) rmSync(image);
  }

  again(): void {
    this.#restore(this.#images);
  }

  #restore(images: readonly string[]): void {
    for (const place of bound) unmount(place);
    for (const [index, disk] of this.#disks.entries()) disk.restore(images[index] ?? '');
    this.#remount();
  }
}

/** A moment of a commit, and what reached each disk. */
interface Cut {
  readonly call: string;
  /** Counted among the calls with this name. */
  readonly nth: number;
  readonly reached: readonly Reached[];
}

function cutsOf(calls: readonly string[], used: number): readonly Cut[] {
  const ways = REACHED.flatMap((one) => (used === 1 ? [[one]] : REACHED.map((other) => [one, other])));
  const seen = new Map<string, number>();
  return calls.flatMap((line, at) => {
    const call = line.slice(0, line.indexOf('('));
    const nth = (seen.get(call) ?? 0) + 1;
    seen.set(call, nth);
    // In turn, so that neighbouring moments have all of them.
    return [0, 1, 2].map((turn) => ({ call, nth, reached: ways[(at * 3 + turn) % ways.length] ?? [] }));
  });
}

async function isWholeAfterEachCut(trial: Trial, used: number): Promise<void> {
  const { root, directory } = trial.maker;
  const calls = trial.commit();
  const after = pictureOf(root);
  const wrong: string[] = [];
  for (const cut of someOf(cutsOf(calls, used), 7)) {
    trial.again();
    trial.commit(cut);
    trial.losePower(cut.reached);
    const { state, done } = recoverTransaction(directory);
    const expected = state === 'committed' ? after : trial.before;
    const said = `${cut.reached.join(', ')} at ${cut.call} ${cut.nth}: ${state}`;
    if ((done?.failed ?? []).length > 0)
      wrong.push(`${said}, with failed changes: ${done?.failed[0]?.reason}`);
    if (differ(pictureOf(root), expected))
      wrong.push(`${said}: ${firstDifference(pictureOf(root), expected)}`);
    if (state === 'discarded') continue;
    const undo = planTransactionUndo(directory, () => undefined);
    if (undo === undefined) wrong.push(`${said}: nothing to undo`);
    else await commitUndo(undoDirectory(directory), undo.plan);
    if (differ(pictureOf(root), trial.before))
      wrong.push(`${said}, undone: ${firstDifference(pictureOf(root), trial.before)}`);
  }
  expect(wrong).toEqual([]);
}

function differ(one: object, other: object): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}

function firstDifference(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): string {
  const path = [...Object.keys(one), ...Object.keys(other)].find((name) => one[name] !== other[name]);
  return `${path}: ${JSON.stringify(one[path ?? '']?.slice(0, 20))} instead of ${JSON.stringify(other[path ?? '']?.slice(0, 20))}`;
}

describe.skipIf(WHY_NOT !== undefined)(
  `a loss of power in a commit${WHY_NOT === undefined ? '' : ` (not tried: ${WHY_NOT})`}`,
  { timeout: 1_800_000 },
  () => {
    it('leaves all of its changes or none, if the root is on another file system', async () => {
      const [withRoot, withPlan] = [disks.make(), disks.make()];
      await isWholeAfterEachCut(new Trial([withRoot.at, withPlan.at], [withRoot, withPlan]), 2);
    });

    it('leaves all of its changes or none, if the root is on another mount of the same file system', async () => {
      const disk = disks.make();
      const near = mkdtempSync(join(folder, 'bound-'));
      mkdirSync(join(disk.at, 'near'));
      const bind = (): void => {
        spawnSync('mount', ['--bind', join(disk.at, 'near'), near]);
      };
      bind();
      bound.push(near);
      await isWholeAfterEachCut(new Trial([near, disk.at], [disk], bind), 1);
    });
  },
);
