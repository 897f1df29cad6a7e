import type { JsonObject } from '../contract/json.js';
import type { CallOrigins, Origin, OriginView } from '../contract/origin.js';
import { isUntrusted } from '../patterns/origin.js';
import { type FoundOrigins, type SeenText, searchArguments } from './search-arguments.js';
import type { BudgetedTexts, TextBudget } from './text-budget.js';
import { LEAST_CHARACTERS, TextIndex } from './text-index.js';

/**
 * Bytes of memory for one conversation, in addition to the bound for all conversations. Older results count only for
 * `seen`.
 */
export const MOST_BYTES = 16_777_216;
/** The key of the fact that a conversation was marked clean; its value is the time. */
export const CLEAN_MARK = 'origins:clean';
/** Begins the key of the fact that the model received a kept output without a call, so that no result holds the text. */
export const OUTPUT_MARK = 'origins:output:';

/**
 * The origins of the data that a model has seen in one conversation, since it was last marked clean.
 *
 * 1. `seen` is complete: no result leaves it before the mark.
 * 2. `args` is exact for copied text: the text is found in the results, ignoring white space and case, and after
 *    percent encoding and base64 are decoded once. The newest results are searched, up to 16 MB of memory.
 * 3. The search runs when `args` or `places` of a call are first read, over the results that existed when the call was
 *    planned.
 * 4. If other conversations need the memory, all texts of this conversation are dropped, and its later calls report
 *    that.
 */
export class ConversationOrigins implements OriginView, BudgetedTexts {
  readonly #budget: TextBudget | undefined;
  readonly #seen = new Set<Origin>();
  /** Only appended to and replaced, because planned calls search a range of it later. */
  #texts: SeenText[] = [];
  #oldest = 0;
  #bytes = 0;
  #isForgotten = false;

  /** @param budget the memory that it shares with other conversations */
  constructor(budget?: TextBudget) {
    this.#budget = budget;
  }

  /** @returns the origins that are new to this conversation */
  add(callId: string, origin: readonly Origin[], text: string): readonly Origin[] {
    const fresh = origin.filter((one) => !this.#seen.has(one));
    for (const one of fresh) this.#seen.add(one);
    // Words of the person or of the host program cannot make the model do anything against their will.
    if (text.length < LEAST_CHARACTERS || origin.every((one) => one === 'user')) return fresh;
    const index = new TextIndex(withLetters(text));
    this.#texts.push({ callId, origin, isUntrusted: origin.some(isUntrusted), index });
    this.#bytes += index.size;
    while (this.#bytes > MOST_BYTES) this.#bytes -= this.#texts[this.#oldest++]?.index.size ?? this.#bytes;
    if (this.#oldest * 2 > this.#texts.length) {
      this.#texts = this.#texts.slice(this.#oldest);
      this.#oldest = 0;
    }
    this.#budget?.holds(this, this.#bytes);
    return fresh;
  }

  /** Whether the same text was added for this call, with these origins, and can still be searched. */
  holds(callId: string, origin: readonly Origin[], text: string): boolean {
    const written = withLetters(text);
    return this.#texts
      .slice(this.#oldest)
      .some(
        (one) =>
          one.callId === callId &&
          one.index.isOf(written) &&
          origin.every((each) => one.origin.includes(each)),
      );
  }

  /** Another process has added this origin. */
  recall(origin: Origin): void {
    this.#seen.add(origin);
  }

  /** Some texts are missing, for example all those of a conversation that was dropped. These origins are left of them. */
  recallDropped(seen: readonly Origin[]): void {
    for (const one of seen) this.#seen.add(one);
    this.#isForgotten = true;
  }

  /** The same origins and texts, outside the budget. Later changes of one do not affect the other. */
  copy(): ConversationOrigins {
    const copy = new ConversationOrigins();
    for (const one of this.#seen) copy.#seen.add(one);
    copy.#texts = this.#texts.slice(this.#oldest);
    copy.#bytes = this.#bytes;
    copy.#isForgotten = this.#isForgotten;
    return copy;
  }

  get seen(): readonly Origin[] {
    return [...this.#seen];
  }

  clear(): void {
    this.#seen.clear();
    this.drop();
    this.#budget?.forget(this);
    this.#isForgotten = false;
  }

  drop(): void {
    this.#texts = [];
    this.#oldest = 0;
    this.#bytes = 0;
    this.#isForgotten = true;
  }

  /** True if nothing relevant was seen: words of the person or of the host program do not count. */
  get isEmpty(): boolean {
    return this.#seen.size === 0 || (this.#seen.size === 1 && this.#seen.has('user'));
  }

  /** @param args frozen */
  of(args: JsonObject): CallOrigins {
    const texts = this.#texts;
    const from = this.#oldest;
    const to = texts.length;
    let known: FoundOrigins | undefined;
    const found = (): FoundOrigins => {
      known ??= searchArguments(args, texts.slice(from, to));
      return known;
    };
    return {
      seen: [...this.#seen],
      ...(this.#isForgotten ? { isForgotten: true } : {}),
      get args() {
        return found().args;
      },
      get places() {
        return found().places;
      },
    };
  }
}

/** JSON in a result may name letters by number (`\u00e9`), as many servers write it. The model reads the letters. */
function withLetters(text: string): string {
  if (!text.includes('\\u')) return text;
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
