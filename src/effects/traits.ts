import type { Effect, Risk } from '../contract/effect.js';

/** Everything but reading and asking changes the world (D021). */
export function isSideEffecting(effects: readonly Effect[]): boolean {
  return effects.some(({ kind }) => kind !== 'read' && kind !== 'ask');
}

/** A durable start record is needed unless the call can only look: then running it again harms nobody. */
export function isAllReads(effects: readonly Effect[]): boolean {
  return effects.every(({ kind }) => kind === 'read');
}

const RISK_OF_KIND: Readonly<Record<Effect['kind'], Risk>> = {
  read: 'low',
  ask: 'low',
  write: 'medium',
  fetch: 'medium',
  delete: 'high',
  run: 'high',
  unknown: 'high',
};

const ORDER: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** The risk of the most dangerous effect; none at all is low. */
export function riskOfEffects(effects: readonly Effect[]): Risk {
  let risk: Risk = 'low';
  for (const { kind } of effects) {
    if (ORDER[RISK_OF_KIND[kind]] > ORDER[risk]) risk = RISK_OF_KIND[kind];
  }
  return risk;
}

export function isRisk(value: unknown): value is Risk {
  return typeof value === 'string' && Object.hasOwn(ORDER, value);
}

/** By index: this is asked of every call. */
export function runsCommand(effects: readonly Effect[]): boolean {
  for (let index = 0; index < effects.length; index++) if (effects[index]?.kind === 'run') return true;
  return false;
}
