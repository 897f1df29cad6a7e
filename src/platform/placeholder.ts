import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { attempt, enter, INNER, isMarked, left, OWN, startLeaving } from './placeholder-marks.js';

export interface Placeholder {
  /** An empty directory in it, for all who hold it: what they make is theirs until the last of them goes. */
  readonly inner: string;
  readonly release: () => void;
}

/** Takes of what was made in `inner` what shall stay, once no program holds the placeholder any more. The rest is removed. */
export type Settle = (inner: string, path: string) => void;

/**
 * Makes a directory where there is none, for as long as a command needs it: then something can be mounted on it. Who
 * needs it has a file in it, so that the last one to go, of whichever process, takes it away, and no other does.
 * Undefined where another program has made a directory meanwhile, or it cannot be made.
 */
export function holdPlaceholder(path: string, settle: Settle): Placeholder | undefined {
  const count = holders.get(path)?.count;
  if (count === undefined && !enter(path)) return undefined;
  tidyAtExit();
  holders.set(path, { count: (count ?? 0) + 1, settle });
  attempt(() => mkdirSync(`${path}/${INNER}`));
  return { inner: `${path}/${INNER}`, release: () => leave(path) };
}

/** Takes away what processes have left that were killed. */
export function sweepPlaceholder(path: string, settle: Settle): void {
  if (!holders.has(path) && isPlaceholder(path)) takeAway(path, settle);
}

/** Whether a directory is there for this only. */
export function isPlaceholder(path: string): boolean {
  try {
    return holders.has(path) || isMarked(path);
  } catch {
    return false;
  }
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
  if (!startLeaving(path)) return;
  // Most often nothing was made in it.
  if (!attempt(() => rmdirSync(`${path}/${INNER}`))) keepRest(path, settle);
  left(path);
}

/** Unless it is gone. */
function keepRest(path: string, settle: Settle): void {
  // From now on it is not taken for a placeholder.
  const taken = `${path}/${INNER}-${OWN}`;
  attempt(() => {
    renameSync(`${path}/${INNER}`, taken);
    settle(taken, path);
  });
  attempt(() => rmSync(taken, { recursive: true, force: true }));
}
