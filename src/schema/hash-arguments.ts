import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../contract/json.js';

/**
 * SHA-256, in hex, over the canonical JSON (RFC 8785) of a call's arguments: the same for the same arguments whatever
 * the order of their properties.
 */
export function hashArguments(args: JsonObject): string {
  return hash('sha256', canonicalize(args) ?? '', 'hex');
}
