import type { Effect } from '../contract/effect.js';

/** An effect with the canonical path the sandbox found for it at planning. */
export interface PlacedEffect {
  readonly effect: Effect;
  /** Canonical and absolute; present for effects on paths, and for commands: where they start. */
  readonly at?: string;
}

/** Decides whether one canonical path is the other or lies below it. */
export type Covers = (outer: string, inner: string) => boolean;

/**
 * Two calls conflict when one changes what the other reads or changes. What cannot be told (`run`, `unknown`)
 * conflicts with everything that touches anything, also with a second question to the person.
 */
export function conflicts(a: readonly PlacedEffect[], b: readonly PlacedEffect[], covers: Covers): boolean {
  if (a.length === 0 || b.length === 0) return false;
  return a.some((x) => b.some((y) => clash(x, y, covers)));
}

function clash(a: PlacedEffect, b: PlacedEffect, covers: Covers): boolean {
  if (isOpenEnded(a.effect) || isOpenEnded(b.effect)) return true;
  // One person, one question at a time.
  if (a.effect.kind === 'ask' && b.effect.kind === 'ask') return true;
  if (a.at === undefined || b.at === undefined) return false;
  if (a.effect.kind === 'read' && b.effect.kind === 'read') return false;
  return covers(a.at, b.at) || covers(b.at, a.at);
}

function isOpenEnded({ kind }: Effect): boolean {
  return kind === 'run' || kind === 'unknown';
}
