/** Waits for a turn: those of one conversation, in their order. */
interface Waiter {
  readonly go: () => void;
}

/**
 * Lets so many run at a time. Where several conversations wait, they take turns: one with a hundred calls does not keep
 * another's single call waiting behind all of them. Within a conversation the order is that of arrival.
 */
export class FairQueue {
  readonly #lanes = new Map<object, Waiter[]>();
  #limit: number;
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Those that run go on. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#letIn();
  }

  /** No call runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#lanes.size === 0;
  }

  /** What gives the turn back, to be called once; undefined: it would have to wait. */
  tryTake(): (() => void) | undefined {
    if (this.#running >= this.#limit || this.#lanes.size > 0) return undefined;
    this.#running++;
    return this.#turn();
  }

  /**
   * @param lane whose turn it is: the same object for all calls of a conversation.
   * @returns what gives the turn back; to be called once.
   * @throws the signal's reason when it aborts while it waits.
   */
  async take(lane: object, signal: AbortSignal): Promise<() => void> {
    return this.tryTake() ?? this.#wait(lane, signal);
  }

  #wait(lane: object, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const giveUp = (): void => {
        this.#leave(lane, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        go: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(this.#turn());
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const waiting = this.#lanes.get(lane);
      if (waiting === undefined) this.#lanes.set(lane, [waiter]);
      else waiting.push(waiter);
      this.#letIn();
    });
  }

  #turn(): () => void {
    return () => {
      this.#running--;
      this.#letIn();
    };
  }

  #letIn(): void {
    while (this.#running < this.#limit) {
      const next = this.#lanes.entries().next().value;
      if (next === undefined) return;
      const [lane, waiting] = next;
      const waiter = waiting.shift();
      // Behind all others, if it waits for more.
      this.#lanes.delete(lane);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      this.#running++;
      waiter?.go();
    }
  }

  #leave(lane: object, waiter: Waiter): void {
    const rest = (this.#lanes.get(lane) ?? []).filter((other) => other !== waiter);
    if (rest.length === 0) this.#lanes.delete(lane);
    else this.#lanes.set(lane, rest);
  }
}
