import type { Executor } from '../contract/executor.js';

/**
 * Calls that wait for the person, from clients that could not be asked. The client received a refusal and will request
 * the same call again under another id. One entry for each conversation and digest.
 */
export interface UndeliveredCalls {
  /** True if there is no entry. Checked for every call. */
  readonly isEmpty: boolean;
  /** The id of such a call. */
  find(conversation: string, digest: string): string | undefined;
  /** Keeps a call. @returns the id under which it is kept: the earlier id if it was kept before */
  keep(conversation: string, digest: string, callId: string): string;
  /** Its result is being delivered now. @returns false if another delivery came first */
  deliver(conversation: string, digest: string, callId: string): boolean;
}

const ofExecutors = new WeakMap<Executor, UndeliveredCalls>();

/** In memory, shared by all servers of an executor. */
export function undeliveredOf(executor: Executor): UndeliveredCalls {
  let calls = ofExecutors.get(executor);
  if (calls === undefined) {
    calls = inMemory(new Map());
    ofExecutors.set(executor, calls);
  }
  return calls;
}

function inMemory(kept: Map<string, string>): UndeliveredCalls {
  return {
    get isEmpty() {
      return kept.size === 0;
    },
    find: (conversation, digest) => kept.get(keyOf(conversation, digest)),
    keep(conversation, digest, callId) {
      const key = keyOf(conversation, digest);
      const earlier = kept.get(key);
      if (earlier !== undefined) return earlier;
      kept.set(key, callId);
      return callId;
    },
    deliver(conversation, digest, callId) {
      const key = keyOf(conversation, digest);
      return kept.get(key) === callId && kept.delete(key);
    },
  };
}

export function keyOf(conversation: string, digest: string): string {
  return JSON.stringify([conversation, digest]);
}
