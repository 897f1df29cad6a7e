import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recoverTransaction } from '../../src/commands/transaction/sweep-transactions.js';
import { commitUndo, planTransactionUndo, undoDirectory } from '../../src/commands/transaction/undo-plan.js';
import { someOf } from '../../src/testing/fixtures/share-of-runs.js';
import { PlanMaker, pictureOf } from '../transactions/plan-maker.js';
import { createDisks, type LoopDisk, unmount } from './loop-disks.js';

/**
 * Cuts the power in commits, and prints the cuts after which neither all changes nor none were there. Run it in its own
 * list of mounts: a sandbox that another process starts has a copy of the other list, so that a disk in there stays
 * busy until the sandbox ends.
 */
const [places = '', count = '', commits = '', folder = ''] = process.argv.slice(2);

/** Where a kill may come. Those of other threads are not counted. */
const CALLS = 'rename,link,symlink,unlink,unlinkat,mkdir,rmdir,fsync,chmod,utimensat';

const bound: string[] = [];

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
    const program = [process.execPath, commits, this.maker.directory, this.#plan];
    const run = ['-qq', '-y', '-o', trace, '-e', `trace=${CALLS}`, ...kill, ...program];
    const { status, signal, stderr } = spawnSync('strace', run, { encoding: 'utf8' });
    // The number of calls differs by one or two, so the last kill may come too late.
    if (status !== 0 && signal !== 'SIGKILL') throw new Error(stderr);
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

/** @returns the cuts after which neither all changes nor none were there */
async function wrongAfterCuts(trial: Trial, used: number): Promise<readonly string[]> {
  const { root, directory } = trial.maker;
  const calls = trial.commit();
  const after = pictureOf(root);
  const wrong: string[] = [];
  for (const cut of someOf(cutsOf(calls, used), Number(count))) {
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
  return wrong;
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

function onTwoFileSystems(): Promise<readonly string[]> {
  const [withRoot, withPlan] = [disks.make(), disks.make()];
  return wrongAfterCuts(new Trial([withRoot.at, withPlan.at], [withRoot, withPlan]), 2);
}

function onTwoMounts(): Promise<readonly string[]> {
  const disk = disks.make();
  const near = mkdtempSync(join(folder, 'bound-'));
  mkdirSync(join(disk.at, 'near'));
  const bind = (): void => {
    spawnSync('mount', ['--bind', join(disk.at, 'near'), near]);
  };
  bind();
  bound.push(near);
  return wrongAfterCuts(new Trial([near, disk.at], [disk], bind), 1);
}

// Each cut copies and rewrites them four times.
const disks = createDisks(8);
const wrong = await (places === 'two mounts' ? onTwoMounts() : onTwoFileSystems());
console.log(JSON.stringify(wrong));
for (const place of bound) unmount(place);
disks.remove();
process.exit();
