import type { Executor } from '../../contract/executor.js';

/** The journal entry that lists conversations, in order of their last use. */
const LIST = 'toolexec:chat';
const BEGUN = 'begun';
const MOST_LISTED = 10;

export interface HeldConversation {
  readonly id: string;
  /** The person's first message. */
  readonly words: string;
}

/** The earlier conversations of this journal. */
export class HeldConversations {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async begin(conversation: string): Promise<void> {
    await this.#executor.transcript(LIST).add(BEGUN, conversation);
  }

  /** Newest first. */
  async ids(): Promise<readonly string[]> {
    const begun = await this.#executor.transcript(LIST).read();
    const ids = begun.flatMap(({ content }) => (typeof content === 'string' ? [content] : []));
    return [...new Set(ids.toReversed())];
  }

  /** Those with a message, newest first. */
  async last(): Promise<readonly HeldConversation[]> {
    const found: HeldConversation[] = [];
    for (const id of await this.ids()) {
      const words = await this.wordsOf(id);
      if (words !== undefined) found.push({ id, words });
      if (found.length === MOST_LISTED) break;
    }
    return found;
  }

  /** The first message; undefined if none is recorded. */
  async wordsOf(conversation: string): Promise<string | undefined> {
    const entries = await this.#executor.transcript(conversation).read();
    if (entries.length === 0) return undefined;
    const said = entries.find(({ role }) => role === 'user')?.content;
    return typeof said === 'string' ? said : '';
  }
}
