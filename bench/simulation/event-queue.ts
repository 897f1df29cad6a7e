/** Events in the order of their times; of two at the same time, in any order. */
export class EventQueue {
  readonly #times: number[] = [];
  readonly #events: number[] = [];
  readonly #subjects: number[] = [];

  get isEmpty(): boolean {
    return this.#times.length === 0;
  }

  /** @param subject a number that belongs to the event, such as a call or a shard */
  add(time: number, event: number, subject: number): void {
    let at = this.#times.length;
    this.#set(at, time, event, subject);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#times[parent] as number) <= time) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, time, event, subject);
  }

  /** Removes the earliest event; `handle` may add others. */
  next(handle: (time: number, event: number, subject: number) => void): void {
    const first = [this.#times[0], this.#events[0], this.#subjects[0]] as [number, number, number];
    const time = this.#times.pop() as number;
    const event = this.#events.pop() as number;
    const subject = this.#subjects.pop() as number;
    const size = this.#times.length;
    if (size > 0) {
      let at = 0;
      for (let child = 1; child < size; child = 2 * at + 1) {
        const other = child + 1;
        if (other < size && (this.#times[other] as number) < (this.#times[child] as number)) child = other;
        if ((this.#times[child] as number) >= time) break;
        this.#move(child, at);
        at = child;
      }
      this.#set(at, time, event, subject);
    }
    handle(...first);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#times[from] as number, this.#events[from] as number, this.#subjects[from] as number);
  }

  #set(at: number, time: number, event: number, subject: number): void {
    this.#times[at] = time;
    this.#events[at] = event;
    this.#subjects[at] = subject;
  }
}

/** First in, first out. */
export class Fifo {
  #items: number[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: number): void {
    this.#items.push(item);
  }

  shift(): number | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head++];
    if (this.#head > 10_000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
