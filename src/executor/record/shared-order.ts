import type { CallRecord } from '../../contract/journal.js';
import { type Covers, conflicts, type PlacedEffect } from '../../effects/conflicts.js';
import type { RecordSettings } from '../call/settings.js';
import type { AttachContext } from './attach.js';
import { pollUntil } from './poll-until.js';
import { isForAnyWorker, ownerOf } from './read-taker.js';

interface Blocker {
  readonly key: string;
  readonly effects: readonly PlacedEffect[];
}

interface SharedOrderContext extends AttachContext {
  /** The id of this session. Its own calls are already ordered by its own queues. */
  readonly workerId: string;
  readonly covers: Covers;
  readonly isWorkerAncestor: RecordSettings['isWorkerAncestor'];
}

/**
 * The order between a batch and the calls of other processes in its conversation.
 *
 * 1. The journal's order of acceptance counts. A batch that waited for approval also waits for the calls that are
 *    running when it continues.
 * 2. A call waits until the conflicting calls have results, as long as their processes live. The calls of a dead
 *    process are recovered first.
 * 3. A call of the process that started this one blocks none: that process may be waiting for this one.
 * 4. A call that waits for approval blocks no other call, and no blocking call is added later. So the set only shrinks,
 *    and no two calls wait for each other.
 */
export class SharedOrder {
  readonly #context: SharedOrderContext;
  #blockers: readonly Blocker[];

  private constructor(context: SharedOrderContext, blockers: readonly Blocker[]) {
    this.#context = context;
    this.#blockers = blockers;
  }

  /** Undefined: no call of another process comes before. @throws the journal's error */
  static async of(batchId: string, context: SharedOrderContext): Promise<SharedOrder | undefined> {
    const records = (await context.journal.waiting?.(batchId)) ?? [];
    const blocking = await Promise.all(records.map((record) => blocks(record, context)));
    const blockers = records.filter((_, index) => blocking[index]).map(toBlocker);
    return blockers.length === 0 ? undefined : new SharedOrder(context, blockers);
  }

  /** Resolves when it is the call's turn, or when its batch was stopped. @throws the journal's error */
  async turn(effects: readonly PlacedEffect[]): Promise<void> {
    const { clock, stopped, patienceMs, recovery, covers } = this.#context;
    const isFree = (): boolean =>
      !this.#blockers.some((blocker) => conflicts(effects, blocker.effects, covers));
    if (isFree()) return;
    await pollUntil(
      async () => {
        const left = await this.#look();
        if (left.length > 0) {
          await recovery.recoverLeft();
          // Not every recovery may answer such a call: its files may belong to another root. From here on, it blocks no
          // call.
          this.#blockers = this.#blockers.filter(({ key }) => !left.includes(key));
        }
        return isFree();
      },
      { clock, stopped, patienceMs },
    );
  }

  /** Drops the calls that no longer block. @returns the keys of the calls whose process is dead. */
  async #look(): Promise<readonly string[]> {
    const { journal, isWorkerAlive, recovery } = this.#context;
    const left: string[] = [];
    const isOpen = await Promise.all(
      this.#blockers.map(async ({ key }) => {
        const record = await journal.call(key);
        if (record === undefined || record.result !== undefined || isOutOfOrder(record)) return false;
        if (isForAnyWorker(record)) return true;
        const owner = await ownerOf(record, journal);
        if (owner !== undefined && !isWorkerAlive(owner)) left.push(key);
        else await recovery.recoverLost([record]);
        return owner !== undefined;
      }),
    );
    this.#blockers = this.#blockers.filter((_, index) => isOpen[index]);
    return left;
  }
}

async function blocks(record: CallRecord, context: SharedOrderContext): Promise<boolean> {
  if (isOutOfOrder(record)) return false;
  if (isForAnyWorker(record)) return true;
  const owner = await ownerOf(record, context.journal);
  return owner !== undefined && owner.id !== context.workerId && !context.isWorkerAncestor(owner);
}

/** No other call waits for it, because it waits for the person without a limit, or never runs. */
export function isOutOfOrder({ decision, disposition, worker }: CallRecord): boolean {
  return worker === undefined && (decision === 'wait' || disposition === 'pre_resolved');
}

function toBlocker(record: CallRecord): Blocker {
  return { key: record.key, effects: placedEffects(record) };
}

/** An effect on a path whose place is not known conflicts with everything. */
export function placedEffects({ effects, places }: CallRecord): readonly PlacedEffect[] {
  return effects.map((effect, index): PlacedEffect => {
    const at = places?.[index] ?? undefined;
    if (at !== undefined) return { effect, at };
    return 'path' in effect ? { effect: { kind: 'unknown' } } : { effect };
  });
}
