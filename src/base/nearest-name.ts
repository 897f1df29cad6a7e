/**
 * Longer names are compared only without case and separators: an edit distance is quadratic in the length.
 */
const MAX_COMPARED_LENGTH = 80;
const MAX_COMPARED_CANDIDATES = 1_000;

/**
 * The most likely intended candidate: one that differs only in case, underscores and hyphens; else the one
 * with the fewest typing slips (at most a third of its letters, at most three); else the only one that shares
 * its words (`file_path` for `path`). Never `name` itself. The earlier candidate wins a tie.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const others = firstOthers(candidates, name);
  const folded = fold(name);
  return (
    others.find((candidate) => folded !== '' && fold(candidate) === folded) ??
    fewestSlips(folded, others) ??
    onlySharingWords(name, others)
  );
}

/** An object with a name and possibly aliases. */
export interface Named {
  readonly name: string;
  readonly others: readonly string[];
}

/**
 * The names of all candidates, nearest first: by typing slips relative to the length, where a shared word
 * counts as half. An alias counts like the name. Ties keep the given order; only the first thousand
 * candidates are compared.
 */
export function byNearness(name: string, candidates: readonly Named[]): string[] {
  const folded = fold(name).slice(0, MAX_COMPARED_LENGTH);
  const words = wordsOf(name);
  const distance = (other: string): number => {
    const letters = fold(other).slice(0, MAX_COMPARED_LENGTH);
    const longest = Math.max(folded.length, letters.length, 1);
    const shares = [...wordsOf(other)].some((word) => words.has(word));
    return (countSlips(folded, letters) / longest) * (shares ? 0.5 : 1);
  };
  const compared = candidates.slice(0, MAX_COMPARED_CANDIDATES).map((candidate) => ({
    name: candidate.name,
    distance: Math.min(...[candidate.name, ...candidate.others].map(distance)),
  }));
  const rest = candidates.slice(MAX_COMPARED_CANDIDATES);
  return [...compared.sort((a, b) => a.distance - b.distance), ...rest].map((candidate) => candidate.name);
}

function firstOthers(candidates: Iterable<string>, name: string): string[] {
  const others: string[] = [];
  for (const candidate of candidates) {
    if (others.length === MAX_COMPARED_CANDIDATES) break;
    if (candidate !== name) others.push(candidate);
  }
  return others;
}

function fold(name: string): string {
  return name
    .slice(0, 4 * MAX_COMPARED_LENGTH)
    .toLowerCase()
    .replace(/[_\-\s.]/g, '');
}

function fewestSlips(folded: string, candidates: readonly string[]): string | undefined {
  if (folded === '' || folded.length > MAX_COMPARED_LENGTH) return undefined;
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = fold(candidate);
    if (other.length > MAX_COMPARED_LENGTH) continue;
    const allowed = Math.min(3, Math.floor(Math.max(folded.length, other.length) / 3));
    if (Math.abs(folded.length - other.length) > allowed) continue;
    const slips = countSlips(folded, other);
    if (slips <= allowed && slips < fewest) {
      best = candidate;
      fewest = slips;
    }
  }
  return best;
}

function onlySharingWords(name: string, candidates: readonly string[]): string | undefined {
  const words = wordsOf(name);
  const sharing = candidates.filter((candidate) => {
    const others = wordsOf(candidate);
    const [fewer, more] = others.size < words.size ? [others, words] : [words, others];
    return fewer.size > 0 && [...fewer].every((word) => more.has(word));
  });
  return sharing.length === 1 ? sharing[0] : undefined;
}

function wordsOf(name: string): Set<string> {
  const spaced = name.slice(0, MAX_COMPARED_LENGTH).replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  return new Set(
    spaced
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 1),
  );
}

/**
 * The number of typing slips between two texts: letters inserted, omitted or replaced, or two neighbours
 * swapped (optimal string alignment). The time grows with the product of the lengths, so limit them first.
 */
export function countSlips(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let slips = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) slips = Math.min(slips, (beforeLast[column - 2] ?? 0) + 1);
      current.push(slips);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
