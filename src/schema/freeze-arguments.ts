import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../contract/json.js';
import { freezeJson } from './freeze-json.js';
import { nameKind, showText, showValue } from './show-value.js';

const MAX_DEPTH = 64;
const MAX_ENTRIES = 100_000;

export interface ArgumentLimits {
  /** UTF-8 bytes of the compact JSON serialisation (D017). */
  readonly maxBytes: number;
}

export type FrozenArguments =
  | { readonly ok: true; readonly value: JsonObject; readonly bytes: number }
  | { readonly ok: false; readonly code: 'bad_args' | 'limit_exceeded'; readonly message: string };

/**
 * Checks the arguments of a call and copies them: plain JSON, an object, within the limits. The copy is
 * private and deep-frozen, so the checked, hashed and recorded arguments are the ones that run (D017, D025,
 * A037).
 */
export function freezeArguments(args: unknown, limits: ArgumentLimits): FrozenArguments {
  if (!isObject(args)) return refuseKind(args);
  const frozen = freezeJson(args, {
    maxBytes: limits.maxBytes,
    maxDepth: MAX_DEPTH,
    maxEntries: MAX_ENTRIES,
    unsafeIntegers: 'refuse',
  });
  // The input was an object, so the output is one.
  if (frozen.ok) return frozen as Extract<FrozenArguments, { ok: true }>;
  const where = frozen.path === '' ? 'the arguments' : showText(frozen.path, 100);
  return frozen.problem === 'size'
    ? {
        ok: false,
        code: 'limit_exceeded',
        message: `Cannot take the arguments: the whole ${frozen.message}. Send less.`,
      }
    : { ok: false, code: 'bad_args', message: `Invalid arguments: ${where} ${frozen.message}.` };
}

function isObject(args: unknown): args is object {
  try {
    return typeof args === 'object' && args !== null && !Array.isArray(args);
  } catch {
    // A revoked proxy throws even for Array.isArray: freezing then reports that it cannot be read.
    return true;
  }
}

function refuseKind(args: unknown): FrozenArguments {
  const came = args === undefined ? 'nothing' : `${nameKind(args)}${showPrimitive(args)}`;
  const hint = isEncodedObject(args) ? ' The object came encoded as a string: send the object itself.' : '';
  return {
    ok: false,
    code: 'bad_args',
    message: `Invalid arguments: expected a JSON object, got ${came}.${hint}`,
  };
}

function showPrimitive(args: unknown): string {
  return typeof args === 'string' || typeof args === 'number' || typeof args === 'boolean'
    ? ` (${showValue(args)})`
    : '';
}

function isEncodedObject(args: unknown): boolean {
  return typeof args === 'string' && args.slice(0, 100).trimStart().startsWith('{');
}

/**
 * SHA-256 in hex over the canonical JSON (RFC 8785) of a call's arguments. The order of properties does not
 * matter.
 */
export function hashArguments(args: JsonObject): string {
  return hash('sha256', canonicalize(args) ?? '', 'hex');
}
