import type { ToolResult } from '../../contract/call.js';
import type { CallRecord, Journal, Worker } from '../../contract/journal.js';
import type { RecoveredBatch } from '../../contract/open-batch.js';
import { isToolError } from '../../errors/tool-error.js';
import { reasonOf } from '../answer/results.js';
import { waitsFor } from '../approve/find-deferred.js';
import type { RecoverySettings } from '../call/settings.js';
import { isForAnyWorker, readTaker } from '../record/read-taker.js';
import { SessionReaper } from './reap-sessions.js';
import { isStream, liesElsewhere, recoverCall, recoverStream } from './recover-call.js';

/**
 * The number of batches recovered at the same time. They share the journal's commits, and each may read files
 * or wait for a probe.
 */
const AT_A_TIME = 128;
/** The number of unfinished calls that are read together. */
const PAGE = 1000;

/**
 * Recovers the calls that dead processes left (D011, D089, D109).
 *
 * 1. A call is left alone if its process lives or cannot be seen; so is a batch that has changed files
 *   outside these roots.
 * 2. Each call is recovered once, even if several processes recover at the same time: the first result
 *   counts.
 * 3. If a batch is left half done, its wait for the person is recorded together with the results.
 */
export class Recovery {
  readonly #settings: RecoverySettings;
  #first: Promise<void> | undefined;
  #done = false;
  #again: Promise<void> | undefined;
  readonly #reaper: SessionReaper;

  constructor(settings: RecoverySettings) {
    this.#settings = settings;
    this.#reaper = new SessionReaper(settings);
  }

  /**
   * Recovers before the first batch. Undefined: recovery is done, or the journal does not outlive the
   * process.
   */
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

  /**
   * Recovers the calls of processes that have died since. A call that cannot be recovered stays unchanged. Never
   * rejects.
   */
  recoverLeft(): Promise<void> {
    this.#again ??= this.#recoverAll('list')
      .then(
        () => {},
        (error: unknown) =>
          this.#settings.logger.error(
            { why: reasonOf(error) },
            'the calls of a dead process could not be recovered',
          ),
      )
      .finally(() => {
        this.#again = undefined;
      });
    return this.#again;
  }

  /** Recovers the running calls whose process is dead or has lost its session. Never rejects. */
  async recoverLost(running: readonly CallRecord[]): Promise<void> {
    const { isWorkerAlive } = this.#settings;
    const workers = running.flatMap(({ worker, acceptedBy }) => worker ?? acceptedBy ?? []);
    if (workers.some((worker) => !isWorkerAlive(worker))) await this.recoverLeft();
    if (workers.some(({ epoch }) => epoch !== undefined)) await this.#reaper.look();
  }

  /** Ends sessions that are not renewed, and answers their calls. Never rejects. @param own the worker that searches */
  reap(own: string): Promise<void> {
    return this.#reaper.look(own);
  }

  /** Recovers calls, and returns the recovered batches and those that wait; oldest first. */
  async run(): Promise<readonly RecoveredBatch[]> {
    const { journal } = this.#settings;
    if (journal === null) return [];
    await this.#reaper.look();
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
   * Works page by page, because the unfinished calls may not fit in memory.
   * @param unrecordable if the journal does not accept the results of a batch: throw an error, or list the
   * batch unchanged
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
        // A page may end inside a batch, but a batch is always recovered whole.
        if (!recovered.has(record.batchId) && (await living.isLeft(record))) left.add(record.batchId);
      }
      const ids = await eachOf([...left], async (id) => {
        try {
          return await this.#recoverBatch(journal, id, living);
        } catch (error) {
          if (unrecordable === 'refuse' || !isToolError(error, 'journal_unavailable')) throw error;
          const data = { batch: id, code: error.code, why: error.message };
          this.#settings.logger.error(data, 'the calls of a dead process could not be recovered');
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
   * Whether a queued call may still run: its batch waits for approval, or a living process has approved it.
   */
  async #isHeld(journal: Journal, call: CallRecord, living: LivingWorkers): Promise<boolean> {
    if (call.worker !== undefined || call.decision === undefined) return false;
    // The calls of the batch that needed no approval should already have run.
    if (call.disposition !== 'requires_confirmation') return false;
    const last = (await journal.decisions(call.batchId)).at(-1);
    if (last?.data.why !== 'approval') return false;
    if (last.kind === 'wait') return true;
    const worker = readTaker(last);
    return worker !== undefined && (await living.has(worker));
  }

  /** @returns the ids of the resulting batches: the batch's own, or that of an interrupted response */
  async #recoverBatch(journal: Journal, batchId: string, living: LivingWorkers): Promise<readonly string[]> {
    const results = new Map<CallRecord, ToolResult>();
    const calls = await journal.batch(batchId);
    for (const call of calls) {
      // A call that was delivered before belongs to the earlier batch.
      if (call.result !== undefined || call.batchId !== batchId || !(await living.isLeft(call))) continue;
      if (isStream(call)) {
        const received = await recoverStream(call, journal, this.#settings);
        if (received !== false) return received === undefined ? [] : [received];
      }
      if (await this.#isHeld(journal, call, living)) continue;
      // A process with access to these files recovers the call, and its batch.
      if (await liesElsewhere(call, journal, this.#settings)) return [batchId];
      results.set(call, await recoverCall(call, this.#settings));
    }
    if (results.size === 0) return [batchId];
    const all = calls.map((call) => call.result ?? results.get(call));
    const at = this.#settings.clock.now();
    // All writes are in one turn and thus in one commit, so the batch is never half done without a wait.
    const waits =
      all.some(isDone) && all.some(isLeftOut)
        ? journal.decide(batchId, { kind: 'wait', at, data: { why: 'recovery' } })
        : undefined;
    // A process that has since started a call, or is ending it, records the result itself.
    const finished = [...results].map(([{ key, worker }, result]) =>
      journal.finish(key, result, at, worker ?? 'queued'),
    );
    await Promise.all([waits, ...finished]);
    return [batchId];
  }
}

/** Runs `act` for each item, at most 128 at a time. Returns one result for each item, in order. */
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

/** Whether the call took effect, at least in part, according to its result or its probe. */
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

/** Checks which processes named in a journal are alive. Each process is looked up once. */
class LivingWorkers {
  readonly #settings: Pick<RecoverySettings, 'isWorkerAlive' | 'isWorkerVisible'>;
  readonly #journal: Journal;
  readonly #known = new Map<string, boolean>();
  #isAlone: boolean | undefined;

  constructor(settings: Pick<RecoverySettings, 'isWorkerAlive' | 'isWorkerVisible'>, journal: Journal) {
    this.#settings = settings;
    this.#journal = journal;
  }

  /**
   * Whether the process that started a call is dead, or, if the call has not started, the process that
   * accepted it. A queued call with a placement has no process. A call claimed by a worker with a session ends with
   * that session.
   */
  async isLeft(record: CallRecord): Promise<boolean> {
    if (isForAnyWorker(record) || (record.placement !== undefined && record.worker?.epoch !== undefined))
      return false;
    const worker = record.worker ?? record.acceptedBy;
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
   * A process that cannot be seen counts as alive, unless this process alone has the journal open. Such a
   * process ran in another container, and in most cases this process replaced it.
   */
  async #find(worker: Worker): Promise<boolean> {
    const { isWorkerAlive, isWorkerVisible } = this.#settings;
    if (!isWorkerAlive(worker)) return false;
    if (isWorkerVisible(worker)) return true;
    this.#isAlone ??= (await this.#journal.isAlone?.()) === true;
    return !this.#isAlone;
  }
}
