/** Lines of a file, from 0; `end` is exclusive. */
export interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/** How many lines of the searched text are compared. */
const MAX_SOUGHT = 200;
/** A line such as `}` occurs everywhere and has no meaning. */
const TELLING_LENGTH = 4;
const MAX_OFFSETS = 4;
const MIN_SHARED = 0.5;

/**
 * The part of a file that is most similar to the searched lines: where most of them are in the same order,
 * otherwise where the longest has its best match. Undefined if nothing is similar. Linear in the length of
 * the file.
 */
export function nearestLines(text: string, sought: readonly string[]): LineSpan | undefined {
  const known = sought.slice(0, MAX_SOUGHT);
  const start = byEqualLines(text, known) ?? byLikeLine(text, known);
  return start === undefined
    ? undefined
    : { start: Math.max(0, start), end: Math.max(1, start + sought.length) };
}

function byEqualLines(text: string, sought: readonly string[]): number | undefined {
  const offsets = new Map<string, number[]>();
  for (const [offset, line] of sought.entries()) {
    const key = line.trim();
    if (key.length < TELLING_LENGTH) continue;
    const known = offsets.get(key);
    if (known === undefined) offsets.set(key, [offset]);
    else if (known.length < MAX_OFFSETS) known.push(offset);
  }
  if (offsets.size === 0) return undefined;
  const votes = new Map<number, number>();
  let best: number | undefined;
  eachLine(text, (line, index) => {
    for (const offset of offsets.get(line.trim()) ?? []) {
      const start = index - offset;
      const weight = (votes.get(start) ?? 0) + 1;
      votes.set(start, weight);
      if (best === undefined || weight > (votes.get(best) ?? 0)) best = start;
    }
  });
  return best;
}

function byLikeLine(text: string, sought: readonly string[]): number | undefined {
  const longest = sought.reduce(
    (best, line, at) => (line.trim().length > (sought[best] ?? '').trim().length ? at : best),
    0,
  );
  const wanted = (sought[longest] ?? '').trim().slice(0, 500);
  if (wanted.length < TELLING_LENGTH) return undefined;
  const known = new Uint8Array(1 << 16);
  for (let at = 0; at + 3 <= wanted.length; at++) known[trigram(wanted, at)] = 1;
  let best: number | undefined;
  let bestScore = MIN_SHARED;
  eachLine(text, (line, index) => {
    const end = Math.min(line.length, 2000) - 2;
    let shared = 0;
    for (let at = 0; at < end; at++) shared += known[trigram(line, at)] ?? 0;
    // A line that contains it and much more is less similar than one that contains little else.
    const size = Math.max(1, wanted.length - 2);
    const score = Math.min(shared, size) / size - 0.2 * (Math.abs(end - size) / Math.max(end, size));
    if (score <= bestScore) return;
    bestScore = score;
    best = index - longest;
  });
  return best;
}

function trigram(text: string, at: number): number {
  const first = text.charCodeAt(at);
  const second = text.charCodeAt(at + 1);
  return (first * 961 + second * 31 + text.charCodeAt(at + 2)) & 0xffff;
}

function eachLine(text: string, visit: (line: string, index: number) => void): void {
  for (let at = 0, index = 0; at <= text.length; index++) {
    const end = text.indexOf('\n', at);
    const stop = end === -1 ? text.length : end;
    if (stop > at) visit(text.slice(at, stop), index);
    at = stop + 1;
  }
}
