import type { Executor } from '../../contract/executor.js';

/** Under this name the journal lists the conversations, in the order in which they were begun or gone on with. */
const LIST = 'toolexec:chat';
const BEGUN = 'begun';
const MOST_LISTED = 10;

export interface HeldConversation {
  readonly id: string;
  /** What the person said first. */
  readonly words: string;
}

/** The conversations that were held here, as the journal has them. */
export class HeldConversations {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async begin(conversation: string): Promise<void> {
    await this.#executor.transcript(LIST).add(BEGUN, conversation);
  }

  /** The newest first. */
  async ids(): Promise<readonly string[]> {
    const begun = await this.#executor.transcript(LIST).read();
    const ids = begun.flatMap(({ content }) => (typeof content === 'string' ? [content] : []));
    return [...new Set(ids.toReversed())];
  }

  /** Those in which something was said. The newest first. */
  async last(): Promise<readonly HeldConversation[]> {
    const found: HeldConversation[] = [];
    for (const id of await this.ids()) {
      const words = await this.wordsOf(id);
      if (words !== undefined) found.push({ id, words });
      if (found.length === MOST_LISTED) break;
    }
    return found;
  }

  /** What was said first; undefined: nothing is recorded of it. */
  async wordsOf(conversation: string): Promise<string | undefined> {
    const entries = await this.#executor.transcript(conversation).read();
    if (entries.length === 0) return undefined;
    const said = entries.find(({ role }) => role === 'user')?.content;
    return typeof said === 'string' ? said : '';
  }
}
