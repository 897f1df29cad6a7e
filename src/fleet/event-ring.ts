import type { FeedEvent, FeedInterest, MissedText } from './feed-reader.js';

/** The limits of the memory for readers that resume. */
const MOST_EVENTS = 5_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** An event, and the readers that may see it. */
export interface RingEvent {
  readonly number: number;
  readonly tenant: string;
  readonly conversation: string;
  readonly event: FeedEvent;
  /** For live output: a description of the loss for a reader that misses it. */
  readonly text: MissedText | undefined;
}

/** The position of an event, as part of its id. */
interface EventPlace {
  readonly server: string;
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const ID = /^([\da-f]{1,16})-(\d{1,15})-(\d{1,15})$/;

/** The newest events of a server, so that a returning reader gets the events it has missed. */
export class EventRing {
  readonly #server: string;
  readonly #events: RingEvent[] = [];
  #last = 0;
  #characters = 0;

  /** @param server names this server in ids */
  constructor(server: string) {
    this.#server = server;
  }

  /** The id of the newest event. */
  lastId(now: number): string {
    return `${this.#server}-${this.#last}-${Math.floor(now)}`;
  }

  add(
    now: number,
    event: Omit<RingEvent, 'number' | 'event'> & { readonly event: Omit<FeedEvent, 'id'> },
  ): RingEvent {
    this.#last += 1;
    const added = { ...event, number: this.#last, event: { ...event.event, id: this.lastId(now) } };
    this.#events.push(added);
    this.#characters += added.event.data.length;
    while (this.#events.length > MOST_EVENTS || this.#characters > MOST_CHARACTERS)
      this.#characters -= this.#events.shift()?.event.data.length ?? this.#characters;
    return added;
  }

  /**
   * The events for a returning reader.
   * @returns the events after its last one; or the time of its last event, if this server does not have all of them;
   * undefined for a new reader
   */
  since({ after }: FeedInterest): readonly RingEvent[] | { readonly seenAt: number } | undefined {
    const place = after === undefined ? undefined : parsePlace(after);
    if (place === undefined) return after === undefined ? undefined : { seenAt: 0 };
    const first = this.#last - this.#events.length;
    const isHere = place.server === this.#server && place.number >= first && place.number <= this.#last;
    return isHere ? this.#events.filter(({ number }) => number > place.number) : { seenAt: place.at };
  }
}

function parsePlace(id: string): EventPlace | undefined {
  const [, server, number, at] = ID.exec(id) ?? [];
  return server === undefined ? undefined : { server, number: Number(number), at: Number(at) };
}
