/** An operation on the journal, as its lane runs it. */
export interface LaneOperation {
  readonly writes: boolean;
  /** Settled once it is done. */
  readonly done: Promise<unknown>;
}

/** The maximum number of writes in a transaction. */
const MOST_TOGETHER = 100;

/**
 * Runs operations in lanes: those of one lane in the order of the requests, those of different lanes in
 * parallel. Waiting writes of a lane run as one group, reads one by one.
 */
export class Lanes<T extends LaneOperation> {
  readonly #lanes = new Map<string, T[]>();
  readonly #pending = new Set<T>();

  /** @param run runs a group; never rejects, because each operation has a separate promise */
  constructor(private readonly run: (group: readonly T[]) => Promise<void>) {}

  add(lane: string, operation: T): void {
    this.#pending.add(operation);
    const waiting = this.#lanes.get(lane);
    if (waiting !== undefined) {
      waiting.push(operation);
      return;
    }
    this.#lanes.set(lane, [operation]);
    void this.#drain(lane);
  }

  /** Resolves when everything added so far is done. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#pending].map(({ done }) => done));
  }

  async #drain(lane: string): Promise<void> {
    // Operations that are requested in the same turn share the group.
    await Promise.resolve();
    for (;;) {
      const waiting = this.#lanes.get(lane) ?? [];
      if (waiting.length === 0) break;
      const [first] = waiting;
      const end = first?.writes === true ? waiting.findIndex(({ writes }) => !writes) : 1;
      const group = waiting.splice(0, Math.min(end < 0 ? waiting.length : end, MOST_TOGETHER));
      await this.run(group);
      for (const operation of group) this.#pending.delete(operation);
    }
    this.#lanes.delete(lane);
  }
}
