import type { Effect, EffectKind } from '../contract/effect.js';
import { type EffectRow, rowOf } from './effect-kinds.js';
import { hasSideEffect } from './traits.js';

/** An effect with its canonical path from planning. */
export interface PlacedEffect {
  readonly effect: Effect;
  /** Canonical and absolute. Present for effects on paths, and for commands, where it is their directory. */
  readonly at?: string;
}

/** Whether the inner canonical path is the outer one or lies below it. */
export type Covers = (outer: string, inner: string) => boolean;

/**
 * Two calls conflict if one changes a thing that the other reads or changes. `run` and `unknown` conflict
 * with every call that touches anything, even a question to the person.
 */
export function conflicts(a: readonly PlacedEffect[], b: readonly PlacedEffect[], covers: Covers): boolean {
  for (const x of a) for (const y of b) if (clash(x, y, covers)) return true;
  return false;
}

function clash(a: PlacedEffect, b: PlacedEffect, covers: Covers): boolean {
  const own = rowOf(a.effect).conflicts;
  const other = rowOf(b.effect).conflicts;
  if (own === 'everything' || other === 'everything') return true;
  if (own !== 'places' || other !== 'places') return ofOneKind(a.effect, b.effect);
  if (a.at === undefined || b.at === undefined) return false;
  if (!hasSideEffect(a.effect) && !hasSideEffect(b.effect)) return false;
  return covers(a.at, b.at) || covers(b.at, a.at);
}

function ofOneKind<K extends EffectKind>(a: Effect<K>, b: Effect): boolean {
  const compare: EffectRow<K>['conflicts'] = rowOf(a).conflicts;
  return typeof compare === 'function' && isSameKind(a, b) && compare(a, b);
}

function isSameKind<K extends EffectKind>(a: Effect<K>, b: Effect): b is Effect & Effect<K> {
  return a.kind === b.kind;
}
