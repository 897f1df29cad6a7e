import { systemClock } from '../platform/clock.js';
import type { ProcessEntry } from '../platform/proc-table.js';
import type { CommandTree } from './command-tree.js';
import { sleep } from './sleep.js';

export interface KillTimes {
  /** How long the processes may tidy up after TERM. */
  readonly graceMs: number;
  /** After this, KILL included, what still lives is given up. */
  readonly limitMs: number;
}

/**
 * Ends everything that a command started: TERM, a grace, then KILL until a look finds nobody (D059).
 * Resolves with the process ids that could not be killed; empty as a rule. Never rejects.
 */
export async function killTree(
  tree: CommandTree,
  { graceMs, limitMs }: KillTimes = { graceMs: 200, limitMs: 700 },
): Promise<number[]> {
  const start = systemClock.monotonic();
  let members = tree.find();
  tree.signal(members, 'SIGTERM');
  // Who is stopped takes note of TERM only when it is woken.
  tree.signal(members, 'SIGCONT');
  let kills = 0;
  for (let pauseMs = 5; members.length > 0; pauseMs = Math.min(2 * pauseMs, 40)) {
    await sleep(kills > 0 ? AFTER_KILL_MS : pauseMs);
    members = tree.recheck(members);
    // Before it is believed that nobody is left, everybody is looked at.
    if (members.length === 0) members = tree.find();
    const elapsedMs = systemClock.monotonic() - start;
    // On a machine that is too busy to let us look in time, nobody is given up before KILL had time to work.
    if (kills >= FEWEST_KILLS && elapsedMs > limitMs) break;
    if (elapsedMs > graceMs) {
      killFaster(tree, members);
      kills++;
    }
  }
  return members.map(({ pid }) => pid);
}

const AFTER_KILL_MS = 5;
const FEWEST_KILLS = 10;

/** KILL for everyone, and without a pause for who came meanwhile: a tree that flees forks once a millisecond. */
function killFaster(tree: CommandTree, members: readonly ProcessEntry[]): void {
  const start = systemClock.monotonic();
  let found = members;
  for (let quietLooks = 0; quietLooks < 3; quietLooks = found.length > 0 ? 0 : quietLooks + 1) {
    tree.signal(found, 'SIGKILL');
    if (systemClock.monotonic() - start > BURST_MS) break;
    found = tree.findNew();
  }
}

/** How long the event loop may be kept waiting at a time. */
const BURST_MS = 30;
