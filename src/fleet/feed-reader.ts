import type { Clock } from '../contract/context.js';

/** How many characters may wait for a slow reader; live output is dropped sooner. */
const MOST_PENDING = 8 * 1024 * 1024;
const MOST_PENDING_TEXTS = 1024 * 1024;

export interface FeedEvent {
  readonly type: 'call' | 'batch' | 'output' | 'gap';
  /** Sent back by a reader that resumes after this event. */
  readonly id: string;
  /** JSON. */
  readonly data: string;
}

/** The events that a reader may see and wants to see. */
export interface FeedInterest {
  readonly tenant: string;
  /** If absent: all calls of its tenant. */
  readonly conversation: string | undefined;
  /** The id of the last event that it has seen, on this server or another one. */
  readonly after: string | undefined;
}

/** A part of a call's live output. */
export interface MissedText {
  readonly batchId: string;
  readonly callId: string;
  readonly conversation: string;
  /** In UTF-16 units. */
  readonly missed: number;
}

/**
 * One reader of the feed. Its events wait until it reads them. A slow reader first loses live output, then changes;
 * each loss is an event too, `gap`.
 */
export class FeedReader {
  readonly interest: FeedInterest;
  readonly #left: () => void;
  readonly #pending: FeedEvent[] = [];
  readonly #missedTexts = new Map<string, MissedText>();
  #size = 0;
  #missed = 0;
  #isEnded = false;
  #lastId = '';
  #wake = (): void => {};

  constructor(interest: FeedInterest, left: () => void) {
    this.interest = interest;
    this.#left = left;
  }

  sees(tenant: string, conversation: string): boolean {
    return tenant === this.interest.tenant && (this.interest.conversation ?? conversation) === conversation;
  }

  offer(event: FeedEvent, text?: MissedText): void {
    const size = this.#size + event.data.length;
    if (size <= (text === undefined ? MOST_PENDING : MOST_PENDING_TEXTS) || this.#pending.length === 0) {
      this.#pending.push(event);
      this.#size = size;
    } else if (text === undefined) this.#missed += 1;
    else {
      const key = `${text.batchId}/${text.callId}`;
      const before = this.#missedTexts.get(key)?.missed ?? 0;
      this.#missedTexts.set(key, { ...text, missed: before + text.missed });
    }
    this.#wake();
  }

  /** Events were lost before they could be offered. */
  missed(): void {
    this.#missed += 1;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#left();
    this.#wake();
  }

  /** Resolves to the next events; empty if none arrive within `ms`. Undefined: the feed has ended. */
  async next(ms: number, clock: Clock): Promise<readonly FeedEvent[] | undefined> {
    if (this.#pending.length === 0 && this.#missed === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        const forget = clock.after(ms, resolve);
        this.#wake = () => {
          forget();
          resolve();
        };
      });
    }
    if (this.#isEnded) return undefined;
    const events = this.#pending.splice(0);
    this.#size = 0;
    this.#lastId = events.at(-1)?.id ?? this.#lastId;
    for (const text of this.#missedTexts.values()) events.push(this.#gap({ ...text, of: 'characters' }));
    if (this.#missed > 0) events.push(this.#gap({ missed: this.#missed, of: 'events' }));
    this.#missedTexts.clear();
    this.#missed = 0;
    return events;
  }

  #gap(data: object): FeedEvent {
    return { type: 'gap', id: this.#lastId, data: JSON.stringify(data) };
  }
}
