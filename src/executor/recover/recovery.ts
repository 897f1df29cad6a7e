import type { ToolResult } from '../../contract/call.js';
import type { CallRecord, Journal, Worker } from '../../contract/journal.js';
import type { RecoveredBatch } from '../../contract/open-batch.js';
import { isToolError } from '../../errors/tool-error.js';
import { waitsFor } from '../approve/find-deferred.js';
import type { RecoverySettings } from '../call/settings.js';
import { readIntent } from '../record/noted-change.js';
import { readTaker } from '../record/read-taker.js';
import { isStream, recoverCall, recoverStream } from './recover-call.js';

/** Batches that are recovered at a time: they share the journal’s commits, and each may read files or wait for a probe. */
const AT_A_TIME = 128;
/** Unfinished calls that are looked at together. */
const PAGE = 1000;

/**
 * Recovers what dead processes have left (D011, D089, D109).
 *
 * 1. A call whose process lives, or cannot be seen, is left alone; and a batch that has changed files outside of these
 *    roots.
 * 2. Each call is recovered once, however many recover at the same time: the first result counts.
 * 3. Of a batch that is left half done it is recorded, together with the results, that it waits for the person.
 */
export class Recovery {
  readonly #settings: RecoverySettings;
  #first: Promise<void> | undefined;
  #done = false;

  constructor(settings: RecoverySettings) {
    this.#settings = settings;
  }

  /** Before the first batch; undefined once that is done, or where nothing outlives the process. */
  ensure(): Promise<void> | undefined {
    if (this.#done || this.#settings.journal?.durable !== true) return undefined;
    this.#first ??= this.#recoverAll('refuse').then(
      () => {
        this.#done = true;
      },
      (error: unknown) => {
        // The next batch tries again.
        this.#first = undefined;
        throw error;
      },
    );
    return this.#first;
  }

  /** Recovers, and gives the batches that had to be, and those that wait; the oldest first. */
  async run(): Promise<readonly RecoveredBatch[]> {
    const { journal } = this.#settings;
    if (journal === null) return [];
    const recovered = await this.#recoverAll('list');
    const waiting = (await journal.batches({ waiting: true })).map(({ id }) => id);
    const ids = new Set([...recovered, ...waiting.reverse()]);
    const isWaiting = new Set(waiting);
    return eachOf([...ids], async (id) => {
      const why = isWaiting.has(id) ? await waitsFor(journal, id) : undefined;
      return toRecovered(id, await journal.batch(id), why);
    });
  }

  /**
   * Page by page: what is left may be more than memory holds.
   * @param unrecordable whether a batch whose results the journal does not take is an error, or listed as it is
   * @returns the ids of the batches that had such calls.
   */
  async #recoverAll(unrecordable: 'refuse' | 'list'): Promise<readonly string[]> {
    const { journal } = this.#settings;
    if (journal === null) return [];
    const recovered = new Set<string>();
    const living = new LivingWorkers(this.#settings, journal);
    for (let after: string | undefined; ; ) {
      const page = { limit: PAGE, ...(after === undefined ? {} : { after }) };
      const unfinished = await journal.unfinished(undefined, page);
      const left = new Set<string>();
      for (const record of unfinished) {
        // A batch may be cut by the page: it is recovered whole.
        if (!recovered.has(record.batchId) && (await living.isLeft(record))) left.add(record.batchId);
      }
      const ids = await eachOf([...left], async (id) => {
        try {
          return await this.#recoverBatch(journal, id, living);
        } catch (error) {
          if (unrecordable === 'refuse' || !isToolError(error, 'journal_unavailable')) throw error;
          const data = { batch: id, code: error.code, why: error.message };
          this.#settings.logger.error(data, 'what a dead process left could not be recovered');
          return [id];
        }
      });
      for (const id of ids.flat()) recovered.add(id);
      const last = unfinished.at(-1)?.key;
      if (unfinished.length !== PAGE || last === after) return [...recovered];
      after = last;
    }
  }

  /**
   * Whether a queued call is still to come: its batch was put off on purpose and waits for approval, or a process has
   * approved it, whose process lives.
   */
  async #isHeld(journal: Journal, call: CallRecord, living: LivingWorkers): Promise<boolean> {
    if (call.worker !== undefined || call.decision === undefined) return false;
    // Siblings of the calls that wait were to run at once.
    if (call.disposition !== 'requires_confirmation') return false;
    const last = (await journal.decisions(call.batchId)).at(-1);
    if (last?.data.why !== 'approval') return false;
    if (last.kind === 'wait') return true;
    const worker = readTaker(last);
    return worker !== undefined && (await living.has(worker));
  }

  /** @returns the ids of the batches that there are of it now: its own, or that of a response which never ended. */
  async #recoverBatch(journal: Journal, batchId: string, living: LivingWorkers): Promise<readonly string[]> {
    const results = new Map<string, ToolResult>();
    const calls = await journal.batch(batchId);
    for (const call of calls) {
      // One that was delivered before belongs to its own batch.
      if (call.result !== undefined || call.batchId !== batchId || !(await living.isLeft(call))) continue;
      if (isStream(call)) {
        const received = await recoverStream(call, journal, this.#settings);
        if (received !== false) return received === undefined ? [] : [received];
      }
      if (await this.#isHeld(journal, call, living)) continue;
      // A process that has these files recovers the call, and the batch with it.
      if (await liesElsewhere(call, journal, this.#settings)) return [batchId];
      results.set(call.key, await recoverCall(call, this.#settings));
    }
    if (results.size === 0) return [batchId];
    const all = calls.map(({ key, result }) => result ?? results.get(key));
    const at = this.#settings.clock.now();
    // In one turn, and so in one commit: there is no moment in which it is half done and does not wait.
    const waits =
      all.some(isDone) && all.some(isLeftOut)
        ? journal.decide(batchId, { kind: 'wait', at, data: { why: 'recovery' } })
        : undefined;
    await Promise.all([waits, ...[...results].map(([key, result]) => journal.finish(key, result, at))]);
    return [batchId];
  }
}

/** One result each, in order; so many at a time. */
async function eachOf<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const goOn = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await act(items[index] as T);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, goOn));
  return results;
}

/** It was done, at least in part: by itself, or so the probe says. */
function isDone(result: ToolResult | undefined): boolean {
  if (result === undefined) return false;
  if (result.success || result.error.details?.executed === 'yes') return true;
  return result.metadata.recovered !== true && result.error.details?.executed !== 'no';
}

function isLeftOut(result: ToolResult | undefined): boolean {
  return result?.success === false && result.metadata.recovered === true && !isDone(result);
}

function toRecovered(
  batchId: string,
  calls: readonly CallRecord[],
  why: RecoveredBatch['waitsFor'],
): RecoveredBatch {
  return {
    batchId,
    conversation: calls[0]?.conversation ?? '',
    waits: why !== undefined,
    ...(why === undefined ? {} : { waitsFor: why }),
    calls: calls.map(({ callId, toolName, state, result }) => ({
      callId,
      toolName,
      state,
      ...(result === undefined ? {} : { result }),
    })),
  };
}

/**
 * Whether a started call has changed files outside of these roots, as one of another directory has that shares the
 * journal: what they say can be read there, and an answer that is given once stays.
 */
async function liesElsewhere(
  { key, worker }: CallRecord,
  journal: Journal,
  { sandbox }: Pick<RecoverySettings, 'sandbox'>,
): Promise<boolean> {
  if (worker === undefined) return false;
  const inside = sandbox.byCanonicalPath();
  const isOutside = ({ path }: { readonly path: string }): boolean => {
    try {
      inside.resolve(path, 'delete');
      return false;
    } catch (error) {
      return isToolError(error, 'sandbox_violation') && error.details?.reason === 'PathOutsideSandbox';
    }
  };
  const notes = await journal.notes(key);
  return notes.some(
    ({ kind, data }) => kind === 'intent' && readIntent(data)?.changes.some(isOutside) === true,
  );
}

/** Which processes live of those that a journal names; each is looked up once. */
class LivingWorkers {
  readonly #settings: Pick<RecoverySettings, 'isWorkerAlive' | 'isWorkerVisible'>;
  readonly #journal: Journal;
  readonly #known = new Map<string, boolean>();
  #isAlone: boolean | undefined;

  constructor(settings: Pick<RecoverySettings, 'isWorkerAlive' | 'isWorkerVisible'>, journal: Journal) {
    this.#settings = settings;
    this.#journal = journal;
  }

  /** Whether the process of a call is dead: that which has started it, or else that which would. */
  async isLeft({ worker: starter, acceptedBy }: CallRecord): Promise<boolean> {
    const worker = starter ?? acceptedBy;
    return worker === undefined || !(await this.has(worker));
  }

  async has(worker: Worker): Promise<boolean> {
    const known = this.#known.get(worker.id);
    if (known !== undefined) return known;
    const lives = await this.#find(worker);
    this.#known.set(worker.id, lives);
    return lives;
  }

  /**
   * A process that cannot be seen counts as alive, unless only this one has the journal open: one of another container, which
   * is most often the one that this one has taken the place of.
   */
  async #find(worker: Worker): Promise<boolean> {
    const { isWorkerAlive, isWorkerVisible } = this.#settings;
    if (!isWorkerAlive(worker)) return false;
    if (isWorkerVisible(worker)) return true;
    this.#isAlone ??= (await this.#journal.isAlone?.()) === true;
    return !this.#isAlone;
  }
}
