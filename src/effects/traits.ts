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

/**
 * Whether every effect of this kind has a side effect; for `call` and `process` that depends on the access.
 */
export function alwaysChanges(kind: EffectKind): boolean {
  return EFFECT_KINDS[kind].sideEffect === 'always';
}

/**
 * Whether a call only reads files. Such a call needs no durable start record, because running it again is
 * harmless. Also used for effects that another version recorded, so it reads no table.
 */
export function isAllReads(effects: readonly Effect[]): boolean {
  return effects.every(({ kind }) => kind === 'read');
}

/** By index, because every call runs this. */
export function runsCommand(effects: readonly Effect[]): boolean {
  for (let index = 0; index < effects.length; index++) if (effects[index]?.kind === 'run') return true;
  return false;
}

const ORDER: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** The risk of the most dangerous effect; low if there are none. */
export function riskOfEffects(effects: readonly Effect[]): Risk {
  // Checked before the loop, because its iterator would cost every call time.
  if (effects.length === 0) return 'low';
  let risk: Risk = 'low';
  for (const effect of effects) {
    const own = rowOf(effect).risk(effect);
    if (ORDER[own] > ORDER[risk]) risk = own;
  }
  return risk;
}

/** The containment of a call that nothing is known to contain. */
export function uncontained(effects: readonly Effect[]): Containment {
  return { transaction: false, network: reachesOut(effects), undo: false };
}

/** Whether an effect can use the network, if nothing prevents it. */
export function reachesOut(effects: readonly Effect[]): boolean {
  return effects.some((effect) => rowOf(effect).hints.reachesOut);
}

/**
 * Whether an effect sends data out: a request, a change of a remote service, a command with the network. A call with
 * unknown effects may do so, and is asked about for that reason.
 */
export function opensWayOut(effect: Effect, network: boolean): boolean {
  if (effect.kind === 'call') return effect.access !== 'read';
  return effect.kind === 'fetch' || (effect.kind === 'run' && network);
}

export function isRisk(value: unknown): value is Risk {
  return typeof value === 'string' && Object.hasOwn(ORDER, value);
}

/** Whether the effect allows this use of the context. */
export function grants(effect: Effect, capability: Capability): boolean {
  const granted = rowOf(effect).grants(effect);
  return granted === 'everything' || granted.includes(capability);
}

/** Whether the effect allows every use. */
export function grantsEverything(effect: Effect): boolean {
  return rowOf(effect).grants(effect) === 'everything';
}

/** The default approval summary: the effects of the call in words. */
export function describeEffects(toolName: string, effects: readonly Effect[]): string {
  if (effects.length === 0) return `${toolName} (touches nothing)`;
  const shown = effects.slice(0, 4).map(describeEffect);
  const more = effects.length > shown.length ? `, and ${effects.length - shown.length} more` : '';
  return `${toolName}: ${shown.join(', ')}${more}`;
}

export function describeEffect(effect: Effect): string {
  return rowOf(effect).words(effect);
}
