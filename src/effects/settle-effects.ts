import type { Effect } from '../contract/effect.js';

/**
 * Takes what a tool declared: a frozen copy, so that neither the tool nor anybody who is shown it can widen it later.
 * @throws TypeError that says which effect is none, and why.
 */
export function settleEffects(declared: unknown): readonly Effect[] {
  if (!Array.isArray(declared)) {
    throw new TypeError(`effects must return an array, got ${kindOf(declared)}`);
  }
  if (declared.length === 0) return NONE;
  return Object.freeze(Array.from(declared, settleEffect));
}

/** Many calls touch nothing; they share one list. */
const NONE: readonly Effect[] = Object.freeze([]);

function settleEffect(declared: unknown, index: number): Effect {
  if (typeof declared !== 'object' || declared === null) {
    throw new TypeError(`effect ${index} must be an object, got ${kindOf(declared)}`);
  }
  // Each property is read once: what a getter answers later does not count.
  const { kind, path, command, cwd, url } = declared as { readonly [key: string]: unknown };
  const text = (name: string, value: unknown): string => {
    if (typeof value === 'string') return value;
    throw new TypeError(`effect ${index} (${kind}) needs ${name}, a text, got ${kindOf(value)}`);
  };
  switch (kind) {
    case 'read':
    case 'write':
    case 'delete':
      return Object.freeze({ kind, path: text('path', path) });
    case 'run':
      return Object.freeze({
        kind,
        command: text('command', command),
        ...(cwd === undefined ? {} : { cwd: text('cwd', cwd) }),
      });
    case 'fetch':
      return Object.freeze({ kind, url: text('url', url) });
    case 'ask':
    case 'unknown':
      return Object.freeze({ kind });
    default:
      throw new TypeError(`effect ${index} has the kind ${show(kind)}, which is none of ${KINDS}`);
  }
}

const KINDS = 'read, write, delete, run, fetch, ask, unknown';

function show(kind: unknown): string {
  return typeof kind === 'string' ? JSON.stringify(kind.slice(0, 40)) : kindOf(kind);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (value instanceof Promise) return 'a promise (it must answer at once)';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
