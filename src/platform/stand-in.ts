import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { errnoOf } from './fs-errno.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

/**
 * Makes a directory where there is none, for as long as anybody needs it: then something can be mounted on it. Who
 * needs it has a file in it, so that the last one to go, of whichever process, takes it away and nobody else does.
 * Undefined where somebody has made a directory of their own meanwhile, or it cannot be made.
 */
export function holdStandIn(path: string): (() => void) | undefined {
  const count = holders.get(path);
  if (count === undefined && !enter(path)) return undefined;
  tidyAtExit();
  holders.set(path, (count ?? 0) + 1);
  return () => leave(path);
}

/** Whether a directory is there for this only. */
export function isStandIn(path: string): boolean {
  return holders.has(path) || marksIn(path).length > 0;
}

/** How many of this process hold it. */
const holders = new Map<string, number>();

let isTidied = false;

function tidyAtExit(): void {
  if (isTidied) return;
  isTidied = true;
  process.once('exit', () => {
    for (const path of holders.keys()) takeAway(path);
  });
}

function enter(path: string): boolean {
  // Whoever leaves at this moment may take it away between the two steps.
  for (let attempt = 0; attempt < 10; attempt++) {
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
    if (errnoOf(error) !== 'EEXIST' || marksIn(path).length === 0) throw error;
  }
}

function leave(path: string): void {
  const count = (holders.get(path) ?? 1) - 1;
  if (count > 0) {
    holders.set(path, count);
    return;
  }
  holders.delete(path);
  takeAway(path);
}

function takeAway(path: string): void {
  attempt(() => unlinkSync(`${path}/${ownMark()}`));
  for (const mark of marksIn(path)) if (isGone(mark)) attempt(() => unlinkSync(`${path}/${mark}`));
  // Fails while another process has its file in it.
  attempt(() => rmdirSync(path));
}

const MARK = new RegExp(`^toolexec-stand-in-([0-9a-f]{${TAG_DIGITS}})-[0-9a-f]{8}$`);

/** Each thread has its own. */
const OWN = randomBytes(4).toString('hex');

function ownMark(): string {
  return `toolexec-stand-in-${ownTag()}-${OWN}`;
}

/** Empty, too, when anything else is in it: then it is somebody's. */
function marksIn(path: string): readonly string[] {
  try {
    const names = readdirSync(path);
    return names.every((name) => MARK.test(name)) ? names : [];
  } catch {
    return [];
  }
}

/** Of one that cannot be seen from here, nobody knows that it is gone. */
function isGone(mark: string): boolean {
  return fateOf(MARK.exec(mark)?.[1] ?? '') === 'gone';
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Somebody else was quicker, or still needs it.
  }
}
