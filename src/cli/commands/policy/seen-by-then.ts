import type { JsonObject } from '../../../contract/json.js';
import type { CallOrigins } from '../../../contract/origin.js';
import { RecordedOrigins } from '../../recorded-origins.js';
import type { RecordedCall } from './recorded-calls.js';

/**
 * The origins that each conversation of a journal had seen when a call was accepted. The calls of one batch have seen no
 * result of each other, because the model wrote them together. A result of a deferred call is seen when it is there.
 */
export class SeenByThen {
  readonly #origins = new RecordedOrigins();
  /** By conversation: earlier calls whose results were not seen yet. */
  readonly #open = new Map<string, readonly RecordedCall[]>();
  readonly #marked = new Set<string>();

  /** Continues until this call is accepted. Calls of a conversation come in the order of their acceptance. */
  reach(call: RecordedCall): void {
    const { conversation } = call;
    if (isAfterMark(call, call.acceptedAt) && !this.#marked.has(conversation)) {
      this.#marked.add(conversation);
      this.#origins.clear(conversation);
    }
    const left: RecordedCall[] = [];
    for (const earlier of this.#open.get(conversation) ?? []) {
      if (!hasSeen(call, earlier)) left.push(earlier);
      else if (
        !this.#marked.has(conversation) ||
        isAfterMark(earlier, earlier.finishedAt ?? earlier.acceptedAt)
      )
        this.#origins.saw(conversation, earlier.seen);
    }
    if (call.seen !== undefined) left.push(call);
    this.#open.set(conversation, left);
  }

  /** Undefined: nothing relevant was seen. */
  of(conversation: string, args: JsonObject): CallOrigins | undefined {
    return this.#origins.of(conversation, args);
  }
}

function isAfterMark({ cleanAt }: RecordedCall, at: number | undefined): boolean {
  return cleanAt > 0 && at !== undefined && at >= cleanAt;
}

/** An export of an earlier version names no end: a call then ended before the next one was accepted. */
function hasSeen(call: RecordedCall, { batch, acceptedAt = 0, finishedAt }: RecordedCall): boolean {
  const at = call.acceptedAt ?? 0;
  return finishedAt === undefined ? acceptedAt < at : batch !== call.batch && finishedAt <= at;
}
