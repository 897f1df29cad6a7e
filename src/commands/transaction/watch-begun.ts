import { systemClock } from '../../platform/clock/clock.js';
import { type BinaryPath, binaryEntry, binaryNames, toBinary } from '../../platform/fs/binary-fs.js';
import type { TransactionParts } from './commit-transaction.js';

/**
 * While a command runs, looks at what it is changing, and notes what the roots hold there as long as that is as it was.
 * Without it a file that others only save again, or touch, would count as changed, and the command be run again.
 */
export function watchBegun(parts: Pick<TransactionParts, 'mounts' | 'begun'> | undefined): { end(): void } {
  if (parts === undefined) return { end() {} };
  let pauseMs = FIRST_MS;
  let stop = systemClock.after(pauseMs, look);
  function look(): void {
    const start = systemClock.monotonic();
    noteChanging(parts);
    // A look takes at most a fiftieth of the time.
    pauseMs = Math.max(Math.min(2 * pauseMs, LAST_MS), 50 * (systemClock.monotonic() - start));
    stop = systemClock.after(pauseMs, look);
  }
  return { end: () => stop() };
}

const FIRST_MS = 25;
const LAST_MS = 1000;
/** Entries of one look. */
const MOST_ENTRIES = 2000;

function noteChanging(parts: Pick<TransactionParts, 'mounts' | 'begun'> | undefined): void {
  let left = MOST_ENTRIES;
  for (const { root, upper } of parts?.mounts ?? []) {
    const [top, lower] = [toBinary(upper), toBinary(root)];
    const waiting: BinaryPath[] = [''];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      for (const name of attempt(() => binaryNames(`${top}${path}`)) ?? []) {
        if (left-- <= 0) return;
        const at = `${path}/${name}`;
        if (name === '.git') continue;
        if (attempt(() => binaryEntry(`${top}${at}`)?.kind) === 'dir') waiting.push(at);
        else attempt(() => parts?.begun.note(`${lower}${at}`));
      }
    }
  }
}

/** The command removes and closes directories while they are looked at. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
