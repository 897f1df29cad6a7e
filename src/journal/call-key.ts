import type { CallKey } from '../contract/journal.js';

/** The key of a batch's call: readable, and unique wherever batch ids are. */
export function callKey(batchId: string, index: number): CallKey {
  return `${batchId}/${index}`;
}

/** What `callKey` was made of; undefined for a text that it never writes. */
export function parseCallKey(key: CallKey): { readonly batchId: string; readonly index: number } | undefined {
  const slash = key.lastIndexOf('/');
  const digits = key.slice(slash + 1);
  if (slash < 0 || !/^(0|[1-9]\d{0,9})$/.test(digits)) return undefined;
  return { batchId: key.slice(0, slash), index: Number(digits) };
}
