/** A waiting call; calls of one conversation keep their order. */
interface Waiter {
  readonly go: () => void;
}

/**
 * Limits the number of running calls. Waiting conversations take turns, so one with a hundred calls does not
 * delay another's single call. Within a conversation, calls run in order of arrival.
 */
export class FairQueue {
  readonly #lanes = new Map<object, Waiter[]>();
  #limit: number;
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Running calls continue. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#letIn();
  }

  /** No call runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#lanes.size === 0;
  }

  /** Returns the release function, to be called once; undefined if it would have to wait. */
  tryTake(): (() => void) | undefined {
    if (this.#running >= this.#limit || this.#lanes.size > 0) return undefined;
    this.#running++;
    return this.#turn();
  }

  /**
   * @param lane the conversation: the same object for all its calls.
   * @returns the release function, to be called once.
   * @throws the signal's reason if it aborts during the wait.
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
      // After all others, if it waits for more.
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
