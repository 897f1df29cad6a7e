import { systemClock } from '../../platform/clock/clock.js';
import { type BinaryPath, binaryEntry, binaryNames, toBinary } from '../../platform/fs/binary-fs.js';
import type { TransactionParts } from './commit-transaction.js';

/**
 * While a command runs, examines the entries it is changing, and records their state in the roots while they
 * are unchanged. Without it, a file that another program saves unchanged would count as changed, and the
 * command would run again.
 */
export function watchBegun(parts: BegunParts | undefined): { end(): void } {
  if (parts === undefined) return { end() {} };
  const known = parts;
  let pauseMs = FIRST_MS;
  let stop = systemClock.after(pauseMs, look);
  function look(): void {
    const start = systemClock.monotonic();
    noteChanging(known);
    // A scan takes at most 2 % of the time.
    pauseMs = Math.max(Math.min(2 * pauseMs, LAST_MS), 50 * (systemClock.monotonic() - start));
    stop = systemClock.after(pauseMs, look);
  }
  return { end: () => stop() };
}

const FIRST_MS = 25;
const LAST_MS = 1000;
/** The maximum number of entries in one scan. */
const MOST_ENTRIES = 2000;

type BegunParts = Pick<TransactionParts, 'mounts' | 'begun'>;

/** Also for a command that has ended: its changes may wait for an answer, or for the commit of a preview. */
export function noteChanging({ mounts, begun }: BegunParts): void {
  let left = MOST_ENTRIES;
  for (const { root, upper } of mounts) {
    const [top, lower] = [toBinary(upper), toBinary(root)];
    const waiting: BinaryPath[] = [''];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      for (const name of attempt(() => binaryNames(`${top}${path}`)) ?? []) {
        if (left-- <= 0) return;
        const at = `${path}/${name}`;
        if (name === '.git') continue;
        if (attempt(() => binaryEntry(`${top}${at}`)?.kind) !== 'dir')
          attempt(() => begun.note(`${lower}${at}`));
        // A new directory contains no earlier entry that could change.
        else if (attempt(() => binaryEntry(`${lower}${at}`)?.kind) === 'dir') waiting.push(at);
      }
    }
  }
}

/** The command removes directories, or makes them inaccessible, during the scan. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
