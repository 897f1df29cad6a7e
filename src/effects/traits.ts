import type { Containment, Effect, EffectKind, Risk } from '../contract/effect.js';
import { type Capability, EFFECT_KINDS, rowOf } from './effect-kinds.js';

/** Whether a call changes anything outside itself (D021). */
export function isSideEffecting(effects: readonly Effect[]): boolean {
  return effects.some(hasSideEffect);
}

export function hasSideEffect(effect: Effect): boolean {
  const { sideEffect } = rowOf(effect);
  return typeof sideEffect === 'function' ? sideEffect(effect) : sideEffect === 'always';
}

/** Whether there is no effect of this kind without a side effect; of `call` and `process` the access decides. */
export function alwaysChanges(kind: EffectKind): boolean {
  return EFFECT_KINDS[kind].sideEffect === 'always';
}

/**
 * A durable start record is needed unless the call only looks at files: running it again harms nothing. Also asked of
 * effects that an older or newer version has recorded, so that it reads no table.
 */
export function isAllReads(effects: readonly Effect[]): boolean {
  return effects.every(({ kind }) => kind === 'read');
}

/** By index: this is asked of every call. */
export function runsCommand(effects: readonly Effect[]): boolean {
  for (let index = 0; index < effects.length; index++) if (effects[index]?.kind === 'run') return true;
  return false;
}

const ORDER: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** The risk of the most dangerous effect; none at all is low. */
export function riskOfEffects(effects: readonly Effect[]): Risk {
  // Before the loop, which costs every call an iterator.
  if (effects.length === 0) return 'low';
  let risk: Risk = 'low';
  for (const effect of effects) {
    const own = rowOf(effect).risk(effect);
    if (ORDER[own] > ORDER[risk]) risk = own;
  }
  return risk;
}

/** Of a call around which nothing is known to stand. */
export function uncontained(effects: readonly Effect[]): Containment {
  return { transaction: false, network: reachesOut(effects), undo: false };
}

/** Whether an effect may use the network, if nothing keeps it from that. */
export function reachesOut(effects: readonly Effect[]): boolean {
  return effects.some((effect) => rowOf(effect).hints.reachesOut);
}

export function isRisk(value: unknown): value is Risk {
  return typeof value === 'string' && Object.hasOwn(ORDER, value);
}

/** Whether the effect lets its call use the context so, within what the effect names. */
export function grants(effect: Effect, capability: Capability): boolean {
  const granted = rowOf(effect).grants(effect);
  return granted === 'everything' || granted.includes(capability);
}

/** Whether the effect names nothing and grants everything. */
export function grantsEverything(effect: Effect): boolean {
  return rowOf(effect).grants(effect) === 'everything';
}

/** The default approval summary: what the call will touch, in words. */
export function describeEffects(toolName: string, effects: readonly Effect[]): string {
  if (effects.length === 0) return `${toolName} (touches nothing)`;
  const shown = effects.slice(0, 4).map(describeEffect);
  const more = effects.length > shown.length ? `, and ${effects.length - shown.length} more` : '';
  return `${toolName}: ${shown.join(', ')}${more}`;
}

export function describeEffect(effect: Effect): string {
  return rowOf(effect).words(effect);
}
