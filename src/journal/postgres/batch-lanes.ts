import type { BatchEntry } from '../../contract/journal.js';

/** The number of batches whose conversations are remembered. */
const REMEMBERED = 10_000;

/**
 * The lanes of operations on batches and their calls: that of the conversation, for batches that this journal has
 * accepted. Other processes have accepted the rest, so nothing here can come before.
 */
export class BatchLanes {
  readonly #conversations = new Map<string, string>();

  /** @returns the lane of the batch */
  add({ id, conversation }: Pick<BatchEntry, 'id' | 'conversation'>): string {
    this.#conversations.set(id, conversation);
    if (this.#conversations.size > REMEMBERED) {
      const oldest = this.#conversations.keys().next();
      if (oldest.done !== true) this.#conversations.delete(oldest.value);
    }
    return ofConversation(conversation);
  }

  laneOf(batchId: string): string {
    const conversation = this.#conversations.get(batchId);
    return conversation === undefined ? `batch ${batchId}` : ofConversation(conversation);
  }
}

export function ofConversation(conversation: string): string {
  return `conversation ${conversation}`;
}
