import type { JsonObject } from '../contract/json.js';
import { settleJson } from './settle-json.js';
import { nameKind, showText, showValue } from './show-value.js';

const MAX_DEPTH = 64;
const MAX_ENTRIES = 100_000;

export interface ArgumentLimits {
  /** UTF-8 bytes of the compact JSON serialisation (FR-LIM-03). */
  readonly maxBytes: number;
}

export type SettledArguments =
  | { readonly ok: true; readonly value: JsonObject; readonly bytes: number }
  | { readonly ok: false; readonly code: 'bad_args' | 'limit_exceeded'; readonly message: string };

/**
 * What a caller hands over as a call's arguments, made certain: plain JSON, an object, within the limits, and a
 * deep-frozen private copy, so that what runs is what was judged, hashed and recorded (D017, D025, A037).
 */
export function settleArguments(args: unknown, limits: ArgumentLimits): SettledArguments {
  if (!isObject(args)) return refuseKind(args);
  const settled = settleJson(args, {
    maxBytes: limits.maxBytes,
    maxDepth: MAX_DEPTH,
    maxEntries: MAX_ENTRIES,
    unsafeIntegers: 'refuse',
  });
  // An object went in, so an object came out.
  if (settled.ok) return settled as Extract<SettledArguments, { ok: true }>;
  const where = settled.path === '' ? 'the arguments' : showText(settled.path, 100);
  return settled.problem === 'size'
    ? {
        ok: false,
        code: 'limit_exceeded',
        message: `Cannot take the arguments: the whole ${settled.message}. Send less.`,
      }
    : { ok: false, code: 'bad_args', message: `Invalid arguments: ${where} ${settled.message}.` };
}

function isObject(args: unknown): args is object {
  try {
    return typeof args === 'object' && args !== null && !Array.isArray(args);
  } catch {
    // A revoked proxy cannot even be asked whether it is an array: settling finds that it cannot be read.
    return true;
  }
}

function refuseKind(args: unknown): SettledArguments {
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
