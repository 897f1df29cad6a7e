import type { Effect, EffectKind } from '../contract/effect.js';
import { EFFECT_KINDS, type EffectField, isEffectKind, KIND_NAMES } from './effect-kinds.js';

/**
 * Parses the declared effects of a tool into a frozen copy, so neither the tool nor a reader can widen them
 * later.
 * @throws TypeError that names the effect, the field and the expected value.
 */
export function parseEffects(declared: unknown): readonly Effect[] {
  if (!Array.isArray(declared)) {
    throw new TypeError(`effects must return an array, got ${kindOf(declared)}`);
  }
  if (declared.length === 0) return NONE;
  return Object.freeze(Array.from(declared, parseEffect));
}

/** Many calls have no effects; they share one list. */
const NONE: readonly Effect[] = Object.freeze([]);

function parseEffect(declared: unknown, index: number): Effect {
  if (typeof declared !== 'object' || declared === null) {
    throw new TypeError(`effect ${index} must be an object, got ${kindOf(declared)}`);
  }
  // Each property is read once, so a getter cannot answer differently later.
  const given = declared as { readonly [key: string]: unknown };
  const { kind } = given;
  if (!isEffectKind(kind)) {
    throw new TypeError(
      `effect ${index} has the kind ${show(kind)}, which is not one of ${KIND_NAMES.join(', ')}`,
    );
  }
  const effect: Record<string, unknown> = { kind };
  for (const { name, field } of FIELDS.get(kind) ?? []) {
    const value = given[name];
    if (value === undefined && field.isOptional === true) continue;
    if (!field.accepts(value)) {
      throw new TypeError(`effect ${index} (${kind}) needs ${name}, ${field.expected}, got ${show(value)}`);
    }
    effect[name] = value;
  }
  // The parse boundary: every field of the kind's row has been checked.
  return Object.freeze(effect) as unknown as Effect;
}

type NamedFields = readonly { readonly name: string; readonly field: EffectField }[];

/** The fields of every kind as lists, because every call needs them. */
const FIELDS: ReadonlyMap<EffectKind, NamedFields> = new Map(
  KIND_NAMES.map((kind) => {
    const fields: Readonly<Record<string, EffectField>> = EFFECT_KINDS[kind].fields;
    return [kind, Object.entries(fields).map(([name, field]) => ({ name, field }))];
  }),
);

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : kindOf(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (value instanceof Promise) return 'a promise (it must answer immediately)';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
