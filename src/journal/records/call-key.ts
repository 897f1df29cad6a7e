import type { CallEntry, CallKey } from '../../contract/journal.js';

/** The key of a batch's call: readable, and unique if batch ids are. */
export function callKey(batchId: string, index: number): CallKey {
  return `${batchId}/${index}`;
}

/** Parses a key; undefined for any other text. */
export function parseCallKey(key: CallKey): { readonly batchId: string; readonly index: number } | undefined {
  const slash = key.lastIndexOf('/');
  const digits = key.slice(slash + 1);
  if (slash < 0 || !/^(0|[1-9]\d{0,9})$/.test(digits)) return undefined;
  return { batchId: key.slice(0, slash), index: Number(digits) };
}

/** Whether a later delivery can be the same call: a made-up id without its turn identifies no call. */
export function hasIdentity({ madeUp, turn }: Pick<CallEntry, 'madeUp' | 'turn'>): boolean {
  return madeUp !== true || turn !== undefined;
}

/** The identity as one text; undefined if there is none. */
export function identityOf(
  conversation: string,
  entry: Pick<CallEntry, 'callId' | 'madeUp' | 'turn'>,
): string | undefined {
  if (!hasIdentity(entry)) return undefined;
  const { callId, madeUp, turn = '' } = entry;
  // The lengths distinguish `("a", "b c")` from `("a b", "c")`.
  const place = madeUp === true ? `${turn.length} ${turn}` : '-';
  return `${conversation.length} ${conversation}${place}${callId}`;
}
