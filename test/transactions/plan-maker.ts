import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type PlannedChange,
  printOf,
  type TransactionPlan,
} from '../../src/commands/transaction/transaction-plan.js';
import { binaryEntry } from '../../src/platform/fs/binary-fs.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';

/** Where the root lies, and where the transaction does. */
export type Places = 'one file system' | 'two file systems';

/** The places available here: the second file system is in memory. */
export function placesHere(): readonly Places[] {
  const isThere = existsSync('/dev/shm') && lstatSync('/dev/shm').dev !== lstatSync(tmpdir()).dev;
  return isThere ? ['one file system', 'two file systems'] : ['one file system'];
}

/** A root and the directory of a transaction; the test makes the changes by hand. */
export class PlanMaker {
  readonly root: string;
  readonly directory: string;
  readonly changes: PlannedChange[] = [];
  readonly #made: readonly string[];

  /** @param places where the root lies, and where the directory does */
  constructor(places: Places | readonly [near: string, far: string]) {
    const [near, far] = typeof places === 'string' ? placesOf(places) : places;
    this.#made = [near, far];
    this.root = join(near, 'root');
    this.directory = join(far, `transaction-${'0'.repeat(24)}-${'1'.repeat(16)}`);
    for (const path of [this.root, join(this.directory, 'old'), join(this.directory, '0/upper')]) {
      mkdirSync(path, { recursive: true });
    }
  }

  get plan(): TransactionPlan {
    return { version: 1, roots: [this.root], changes: this.changes };
  }

  /** Where the command's version of a path is put. */
  upper(path: string): string {
    return join(this.directory, '0/upper', path);
  }

  /** A change in its current state: the new version is in the upper directory, the old one in the root. */
  add(change: PlannedChange['change'], path: string, more: Partial<PlannedChange> = {}): void {
    const [before, after] = [this.#printed(join(this.root, path)), this.#printed(this.upper(path))];
    const kind = (change === 'delete' ? before : after)?.kind ?? 'file';
    if (kind === 'special') throw new Error('no change is of something special');
    this.changes.push({
      ...{ change, kind, root: 0, path },
      ...(change !== 'delete' && kind !== 'dir' && { from: this.upper(path) }),
      ...(change !== 'create' && before && { before }),
      ...(change !== 'delete' && after && { after }),
      ...more,
    });
  }

  #printed(path: string) {
    const entry = binaryEntry(path);
    return entry === undefined ? undefined : printOf(entry);
  }

  remove(): void {
    for (const path of this.#made) removeTree(path);
  }
}

function placesOf(places: Places): readonly [near: string, far: string] {
  const near = realpathSync(mkdtempSync(join(tmpdir(), 'plan-')));
  return [near, places === 'one file system' ? near : mkdtempSync('/dev/shm/plan-')];
}

/** Each entry below a directory with its kind, mode and content. */
export function pictureOf(directory: string): Readonly<Record<string, string>> {
  const picture: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) picture[name] = `-> ${readlinkSync(path)}`;
    else picture[name] = stat.isDirectory() ? `${mode} directory` : `${mode} ${readFileSync(path, 'utf8')}`;
  }
  return picture;
}
