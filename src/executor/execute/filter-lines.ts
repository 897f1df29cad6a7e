import type { Clock } from '../../contract/context.js';
import type { LinearPattern } from '../../schema/linear-pattern.js';

/** Characters of a line that are looked at: what is longer is no line that somebody wrote. */
const LOOKED_AT = 16_384;
/** How long other calls may be kept waiting at a time. */
const SLICE_MS = 20;

/** The lines that `pattern` matches, with their ends. Lets others work in between, and stops when nobody waits for it. */
export async function filterLines(
  text: string,
  pattern: LinearPattern,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const matching: string[] = [];
  let pauseAt = clock.monotonic() + SLICE_MS;
  for (let start = 0; start < text.length && !signal.aborted; ) {
    const end = text.indexOf('\n', start) + 1 || text.length;
    const line = text.slice(start, end);
    if (pattern.test(withoutEnd(line).slice(0, LOOKED_AT))) matching.push(line);
    start = end;
    if (clock.monotonic() < pauseAt) continue;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    pauseAt = clock.monotonic() + SLICE_MS;
  }
  return matching.join('');
}

function withoutEnd(line: string): string {
  return line.replace(/\r?\n$/, '');
}
