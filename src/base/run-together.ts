interface Together {
  /** Pieces of work, identified by their index. */
  readonly count: number;
  /** How many run at the same time. */
  readonly limit: number;
  /** Asked about every pair before anything runs. */
  readonly waitsFor: (later: number, earlier: number) => boolean;
  /** Must not reject. */
  readonly run: (place: number) => Promise<void>;
}

/**
 * Runs pieces of work concurrently. They start in order, but later pieces may overtake one that waits for an earlier
 * piece.
 */
export async function runTogether({ count, limit, waitsFor, run }: Together): Promise<void> {
  const waiting = new Map<number, Set<number>>();
  for (let later = 0; later < count; later++) {
    const blockers = new Set<number>();
    for (let earlier = 0; earlier < later; earlier++) if (waitsFor(later, earlier)) blockers.add(earlier);
    waiting.set(later, blockers);
  }
  const running = new Set<Promise<void>>();
  const start = async (place: number): Promise<void> => {
    await run(place);
    for (const blockers of waiting.values()) blockers.delete(place);
  };
  while (waiting.size > 0) {
    const next = running.size < limit ? firstFree(waiting) : undefined;
    if (next === undefined) {
      await Promise.race(running);
      continue;
    }
    waiting.delete(next);
    const ending = start(next).finally(() => running.delete(ending));
    running.add(ending);
  }
  await Promise.all(running);
}

function firstFree(waiting: ReadonlyMap<number, ReadonlySet<number>>): number | undefined {
  for (const [place, blockers] of waiting) if (blockers.size === 0) return place;
  return undefined;
}
