import type { RunOptions } from '../../contract/executor.js';
import { hasIdentity } from '../../journal/records/call-key.js';
import type { BatchScope } from './batch-scope.js';
import type { ReadyCall } from './evaluated-call.js';
import { attaches } from './run-options.js';

interface Delivery {
  readonly ready: ReadyCall;
  /** The index of the call in its batch. */
  readonly index: number;
  readonly scope: BatchScope;
  readonly options: RunOptions;
}

/**
 * A key that stays the same if the same call is delivered again. This is only possible if the caller has
 * named the conversation.
 */
export function idempotencyKey({ ready: { call }, index, scope, options }: Delivery): string {
  if (!attaches(options) || !hasIdentity(call)) return `${scope.id}/${scope.taken?.record.index ?? index}`;
  // The first slash ends the conversation. Without escaping, "a/b" and "c" would share a key with "a" and
  // "b/c".
  const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('/', '%2F');
  // No escaped conversation ends with "%", so a provider's id never shares a key with a made-up id.
  const turn = call.madeUp === true ? `%/${escaped(call.turn ?? '')}` : '';
  return `${escaped(scope.conversation)}${turn}/${call.id}`;
}
