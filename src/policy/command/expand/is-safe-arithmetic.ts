import type { Scope, Value } from '../scope.js';

/**
 * Whether a text can be evaluated without running anything. Arithmetic reads a variable's value as an expression once
 * more, and what stands in an index (`a[$(…)]`) is run then.
 */
export function isSafeArithmetic(text: string, scope: Scope, depth = 0): boolean {
  if (/[[$`]/.test(text) || depth > MAX_DEPTH) return false;
  const names = text.match(/[A-Za-z_]\w*/g) ?? [];
  if (names.length > MAX_NAMES) return false;
  return names.every((name) => {
    const value = scope.get(name);
    // Nobody has set it here: it comes from the environment, or is nothing.
    return value === undefined || isSafeValue(value, scope, depth + 1);
  });
}

export function isSafeValue(value: Value, scope: Scope, depth = 0): boolean {
  if (value.kind === 'unknown') return value.numeric;
  if (value.kind === 'list') return value.items.every((item) => isSafeArithmetic(item, scope, depth));
  return isSafeArithmetic(value.text, scope, depth);
}

const MAX_DEPTH = 4;
const MAX_NAMES = 64;
