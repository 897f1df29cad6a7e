import type { ConversationFact, RecalledFacts } from '../../contract/journal.js';

/** The maximum number of facts. Beyond it, the least recently extended conversation is dropped as a whole. */
const MOST_FACTS = 20_000;

interface NumberedFact {
  readonly number: number;
  readonly fact: ConversationFact;
}

/** The facts of the conversations in a memory journal. */
export class MemoryFacts {
  /** By conversation, least recently extended first; then by key, oldest first. */
  private readonly conversations = new Map<string, Map<string, NumberedFact>>();
  private count = 0;
  private last = 0;

  constructor(private readonly capacity = MOST_FACTS) {}

  add(conversation: string, facts: readonly ConversationFact[]): void {
    const known = this.conversations.get(conversation) ?? new Map<string, NumberedFact>();
    this.conversations.delete(conversation);
    this.conversations.set(conversation, known);
    for (const fact of facts) {
      const standing = known.get(fact.key);
      if (standing !== undefined && isSame(standing.fact, fact)) continue;
      if (!known.delete(fact.key)) this.count++;
      known.set(fact.key, { number: ++this.last, fact });
    }
    if (this.count > this.capacity) this.forgetOldest();
  }

  recall(conversation: string, since = 0): RecalledFacts {
    const facts: ConversationFact[] = [];
    for (const { number, fact } of this.conversations.get(conversation)?.values() ?? []) {
      if (number > since) facts.push(fact);
    }
    return { facts, mark: this.last };
  }

  clear(): void {
    this.conversations.clear();
    this.count = 0;
  }

  private forgetOldest(): void {
    for (const [conversation, known] of this.conversations) {
      // The last conversation is in use: only its oldest facts are dropped.
      const isInUse = this.conversations.size === 1;
      for (const key of known.keys()) {
        if (isInUse && this.count <= this.capacity) return;
        known.delete(key);
        this.count--;
      }
      this.conversations.delete(conversation);
      if (this.count <= this.capacity) return;
    }
  }
}

function isSame(one: ConversationFact, other: ConversationFact): boolean {
  return JSON.stringify(one.value) === JSON.stringify(other.value);
}
