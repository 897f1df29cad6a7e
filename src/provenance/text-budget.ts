/** Bytes of memory for the texts of all conversations of an executor. */
const MOST_BYTES = 134_217_728;

/** The texts of one conversation. */
export interface BudgetedTexts {
  /** Frees all of them. */
  drop(): void;
}

/**
 * One bound for the texts of many conversations: the conversation that has received no text for longest loses its texts
 * first.
 */
export class TextBudget {
  readonly #most: number;
  /** Bytes by conversation; the one that received a text last is at the end. */
  readonly #bytes = new Map<BudgetedTexts, number>();
  #total = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** Sets the number of bytes that a conversation holds. */
  holds(texts: BudgetedTexts, bytes: number): void {
    this.forget(texts);
    if (bytes === 0) return;
    this.#bytes.set(texts, bytes);
    this.#total += bytes;
    for (const oldest of this.#bytes.keys()) {
      if (this.#total <= this.#most || oldest === texts) return;
      this.forget(oldest);
      oldest.drop();
    }
  }

  /** The conversation is over, or holds no more texts. */
  forget(texts: BudgetedTexts): void {
    this.#total -= this.#bytes.get(texts) ?? 0;
    this.#bytes.delete(texts);
  }
}
