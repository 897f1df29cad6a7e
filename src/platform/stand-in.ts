import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { errnoOf } from './fs-errno.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

export interface StandIn {
  /** An empty directory in it, for all who hold it: what they make is theirs until the last of them goes. */
  readonly inner: string;
  readonly release: () => void;
}

/** Takes of what was made in `inner` what shall stay, once nobody holds the stand-in any more. The rest is removed. */
export type Settle = (inner: string, path: string) => void;

/**
 * Makes a directory where there is none, for as long as anybody needs it: then something can be mounted on it. Who
 * needs it has a file in it, so that the last one to go, of whichever process, takes it away and nobody else does.
 * Undefined where somebody has made a directory of their own meanwhile, or it cannot be made.
 */
export function holdStandIn(path: string, settle: Settle): StandIn | undefined {
  const count = holders.get(path)?.count;
  if (count === undefined && !enter(path)) return undefined;
  tidyAtExit();
  holders.set(path, { count: (count ?? 0) + 1, settle });
  attempt(() => mkdirSync(`${path}/${INNER}`));
  return { inner: `${path}/${INNER}`, release: () => leave(path) };
}

/** Takes away what processes have left that were killed. */
export function sweepStandIn(path: string, settle: Settle): void {
  if (!holders.has(path) && isStandIn(path)) takeAway(path, settle);
}

/** Whether a directory is there for this only. */
export function isStandIn(path: string): boolean {
  return holders.has(path) || entriesOf(path).length > 0;
}

/** How many of this process hold it. */
const holders = new Map<string, { readonly count: number; readonly settle: Settle }>();

let isTidied = false;

function tidyAtExit(): void {
  if (isTidied) return;
  isTidied = true;
  process.once('exit', () => {
    for (const [path, { settle }] of holders) takeAway(path, settle);
  });
}

function enter(path: string): boolean {
  // Whoever leaves at this moment may take it away between the two steps.
  for (let round = 0; round < 10; round++) {
    try {
      makeDirectory(path);
      writeFileSync(`${path}/${ownMark()}`, '', { mode: 0o600 });
      return true;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') return false;
    }
  }
  return false;
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !isStandIn(path)) throw error;
  }
}

function leave(path: string): void {
  const { count, settle } = holders.get(path) ?? {};
  if (count === undefined || settle === undefined) return;
  if (count > 1) {
    holders.set(path, { count: count - 1, settle });
    return;
  }
  holders.delete(path);
  takeAway(path, settle);
}

function takeAway(path: string, settle: Settle): void {
  attempt(() => unlinkSync(`${path}/${ownMark()}`));
  for (const mark of entriesOf(path)) if (isGone(mark)) attempt(() => unlinkSync(`${path}/${mark}`));
  const left = entriesOf(path);
  // Another process has its file in it.
  if (left.some((name) => name !== INNER)) return;
  // Most often nothing was made in it.
  try {
    rmdirSync(`${path}/${INNER}`);
    attempt(() => rmdirSync(path));
    return;
  } catch {
    // There was, or it is gone.
  }
  // From now on nobody takes it for a stand-in.
  const taken = `${path}/${INNER}-${OWN}`;
  attempt(() => {
    renameSync(`${path}/${INNER}`, taken);
    settle(taken, path);
  });
  attempt(() => rmSync(taken, { recursive: true, force: true }));
  attempt(() => rmdirSync(path));
}

/** Where something is made aside. */
const INNER = 'toolexec-new';

const MARK = new RegExp(`^toolexec-stand-in-([0-9a-f]{${TAG_DIGITS}})-[0-9a-f]{8}$`);

/** Each thread has its own. */
const OWN = randomBytes(4).toString('hex');

function ownMark(): string {
  return `toolexec-stand-in-${ownTag()}-${OWN}`;
}

/** Empty, too, when anything else is in it: then it is somebody's. */
function entriesOf(path: string): readonly string[] {
  try {
    const names = readdirSync(path);
    return names.every((name) => name === INNER || MARK.test(name)) ? names : [];
  } catch {
    return [];
  }
}

/** Of one that cannot be seen from here, nobody knows that it is gone. */
function isGone(mark: string): boolean {
  const tag = MARK.exec(mark)?.[1];
  return tag !== undefined && fateOf(tag) === 'gone';
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Somebody else was quicker, or still needs it.
  }
}
