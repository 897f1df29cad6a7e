/** When a process is killed: around a step of its journal, at an instant after it began, or in a system call. */
export type KillPoint =
  | { readonly kind: 'step'; readonly step: number; readonly when: 'before' | 'after'; readonly name: string }
  | { readonly kind: 'instant'; readonly afterMs: number }
  /** In its nth such system call, before it is carried out; by strace, which has to be there. */
  | { readonly kind: 'system_call'; readonly name: string; readonly nth: number };

/** What a run without a kill was like. */
export interface CalmRun {
  /** The names of the journal's operations, in order. */
  readonly steps: readonly string[];
  readonly durationMs: number;
}

export interface KillCounts {
  readonly steps: number;
  readonly random: number;
}

export function chooseKillPoints(calm: CalmRun, counts: KillCounts, random: () => number): KillPoint[] {
  const around = calm.steps.flatMap((name, index): KillPoint[] =>
    (['before', 'after'] as const).map((when) => ({ kind: 'step', step: index + 1, when, name })),
  );
  const instants = Array.from({ length: counts.random }, (): KillPoint => {
    // A little longer than the calm run, because a round under load takes longer.
    return { kind: 'instant', afterMs: random() * (calm.durationMs * 1.25 + 1) };
  });
  return [...spread(around, counts.steps), ...instants];
}

/** At most `most` of them, evenly. More than there are: again from the beginning. */
function spread(points: readonly KillPoint[], most: number): KillPoint[] {
  if (most === Number.POSITIVE_INFINITY || points.length === 0) return [...points];
  if (most >= points.length) {
    return Array.from({ length: most }, (_, index) => points[index % points.length] as KillPoint);
  }
  return Array.from({ length: most }, (_, index) => {
    return points[Math.floor((index * points.length) / most)] as KillPoint;
  });
}

export function describeKillPoint(point: KillPoint): string {
  if (point.kind === 'instant') return `after ${point.afterMs.toFixed(1)} ms`;
  if (point.kind === 'system_call') return `in ${point.name} number ${point.nth}`;
  return `${point.when} step ${point.step} (${point.name})`;
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
