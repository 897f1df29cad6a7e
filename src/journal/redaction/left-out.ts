import type { JsonObject, JsonValue } from '../../contract/json.js';

/** Replaces an argument: its keyed digest shows whether two deliveries had the same value. */
const LEFT_OUT = /^\[REDACTED hmac-sha256:[A-Za-z0-9_-]{43}\]$/;

export function toLeftOut(digest: string): string {
  return `[REDACTED hmac-sha256:${digest}]`;
}

export function isLeftOut(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && LEFT_OUT.test(value);
}

/**
 * Whether any of these arguments was omitted from the journal: then the call cannot be rebuilt from its
 * record.
 */
export function hasLeftOut(args: JsonObject): boolean {
  return Object.values(args).some(holdsLeftOut);
}

function holdsLeftOut(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return isLeftOut(value);
  return Object.values(value).some(holdsLeftOut);
}

/** For messages: the reason why such a call cannot be continued. */
export const LEFT_OUT_OF_JOURNAL = "the call's arguments were left out of the journal";
