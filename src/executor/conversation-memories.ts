import type { ConversationMemory } from '../contract/context.js';

/** Conversations whose memory is kept; the one that was used longest ago is forgotten first. */
const KEPT = 1_000;

/** What tools remember, a conversation at a time. Bounded, so that a server can run for ever. */
export class ConversationMemories {
  readonly #memories = new Map<string, ConversationMemory>();

  of(conversation: string): ConversationMemory {
    const memory = this.#memories.get(conversation) ?? new Map<string, unknown>();
    if (this.#memories.size > 1) this.#memories.delete(conversation);
    this.#memories.set(conversation, memory);
    if (this.#memories.size > KEPT) this.#forgetOldest();
    return memory;
  }

  #forgetOldest(): void {
    for (const oldest of this.#memories.keys()) {
      this.#memories.delete(oldest);
      return;
    }
  }
}
