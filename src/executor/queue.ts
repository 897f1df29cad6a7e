import type { Covers, PlacedEffect } from '../effects/conflicts.js';
import { conflicts } from '../effects/conflicts.js';

/**
 * The order of conflicting calls in one conversation, across batches that run at the same time.
 *
 * 1. Batches are in order of arrival. A call waits for every call of an earlier batch that it conflicts with
 *   and that has no result yet. The effects of an earlier batch are unknown until it is planned, so until then all
 *   later calls wait for it.
 * 2. A call also waits for a conflicting call of a later batch that is executing.
 * 3. A call that executes never waits, so no two calls wait for each other.
 * 4. The batch itself decides the order of its calls.
 * 5. Batches of a named conversation are recorded in this order, so it agrees with the order of the journal, which
 *    counts between processes (`record/shared-order.ts`).
 * 6. A place can be reserved for a batch that the journal has to find first. Until the batch is there, later calls wait
 *    for it as for a batch that is not planned.
 */
export class ConversationQueue {
  readonly #covers: Covers;
  #first: QueuedBatch | undefined;
  #last: QueuedBatch | undefined;

  constructor(covers: Covers) {
    this.#covers = covers;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** @param place where a place was reserved for the batch */
  enter(batch: QueuedBatch, place?: ReservedPlace): void {
    if (place === undefined) this.#append(batch);
    else this.#replace(place, batch);
  }

  #append(batch: QueuedBatch): void {
    batch.earlier = this.#last;
    if (this.#last === undefined) this.#first = batch;
    else this.#last.later = batch;
    this.#last = batch;
  }

  reserve(): ReservedPlace {
    const place = new ReservedPlace();
    this.enter(place);
    return place;
  }

  /** Has no effect once a batch has taken the place. */
  giveUp(place: ReservedPlace): void {
    if (!place.isTaken) this.leave(place);
  }

  #replace(place: ReservedPlace, batch: QueuedBatch): void {
    const { earlier, later } = place;
    place.isTaken = true;
    batch.earlier = earlier;
    batch.later = later;
    if (earlier === undefined) this.#first = batch;
    else earlier.later = batch;
    if (later === undefined) this.#last = batch;
    else later.earlier = batch;
    place.changed();
  }

  leave(batch: QueuedBatch): void {
    if (batch.earlier === undefined) this.#first = batch.later;
    else batch.earlier.later = batch.later;
    if (batch.later === undefined) this.#last = batch.earlier;
    else batch.later.earlier = batch.earlier;
    // Otherwise an ended batch keeps later batches in memory until the next full garbage collection.
    batch.earlier = undefined;
    batch.later = undefined;
    batch.changed();
  }

  /** Resolves when every earlier batch is recorded or never will be, or when this batch was stopped. */
  arrival(batch: QueuedBatch): Promise<void> {
    return this.#free(batch, () => {
      let earlier = batch.earlier;
      while (earlier?.isPlaced === true) earlier = earlier.earlier;
      return earlier;
    });
  }

  /** Whether the call still has to wait for its turn. */
  mustWait(batch: QueuedBatch, effects: readonly PlacedEffect[]): boolean {
    if (batch.earlier === undefined && batch.later === undefined) return false;
    return this.#blockerOf(batch, effects) !== undefined;
  }

  /** Resolves when it is the call's turn, or when its batch was stopped. */
  turn(batch: QueuedBatch, effects: readonly PlacedEffect[]): Promise<void> {
    return this.#free(batch, () => this.#blockerOf(batch, effects));
  }

  /** Resolves when there is no blocker, or when the batch was stopped. */
  async #free(batch: QueuedBatch, blocker: () => QueuedBatch | undefined): Promise<void> {
    for (let one = blocker(); one !== undefined && !batch.isStopped; one = blocker())
      await Promise.race([one.nextChange, batch.stopped]);
  }

  /** The nearest batch that blocks this call. Batches farther away are checked after that batch is done. */
  #blockerOf(batch: QueuedBatch, effects: readonly PlacedEffect[]): QueuedBatch | undefined {
    if (effects.length === 0) return undefined;
    const clash = (other: readonly PlacedEffect[]): boolean => conflicts(effects, other, this.#covers);
    for (let other = batch.earlier; other !== undefined; other = other.earlier) {
      if (other.holdsUp(clash, 'unanswered')) return other;
    }
    for (let other = batch.later; other !== undefined; other = other.later) {
      if (other.holdsUp(clash, 'executing')) return other;
    }
    return undefined;
  }
}

/** A batch, as the queue sees it. */
export abstract class QueuedBatch {
  earlier: QueuedBatch | undefined = undefined;
  later: QueuedBatch | undefined = undefined;
  /** The journal was asked to record the batch, or never will be: later batches may be recorded. */
  isPlaced = false;
  #waiting: (() => void)[] = [];

  /** Whether a call of this batch that has no result yet (or that executes) conflicts with `clash`. */
  abstract holdsUp(
    clash: (effects: readonly PlacedEffect[]) => boolean,
    calls: 'unanswered' | 'executing',
  ): boolean;
  abstract readonly isStopped: boolean;
  /** Resolves when the batch is stopped. */
  abstract readonly stopped: Promise<void>;

  /** Resolves at the next change that may let another batch continue. */
  get nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A call was answered, or the batch was planned or recorded. */
  changed(): void {
    const waiting = this.#waiting;
    if (waiting.length > 0) this.#waiting = [];
    for (const goOn of waiting) goOn();
  }
}

/** A place kept for a batch that has not arrived yet. */
export class ReservedPlace extends QueuedBatch {
  isTaken = false;
  readonly isStopped = false;
  readonly stopped = NEVER;

  holdsUp(_: (effects: readonly PlacedEffect[]) => boolean, calls: 'unanswered' | 'executing'): boolean {
    return calls === 'unanswered';
  }
}

const NEVER = new Promise<void>(() => {});
