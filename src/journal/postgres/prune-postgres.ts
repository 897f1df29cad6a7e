import type { Pruned, PruneLimits } from '../../contract/pruning.js';
import { pause } from '../../platform/clock/clock.js';
import { LIVE_MS } from '../records/live-text.js';
import { ENDED_MS } from '../records/session-beats.js';
import type { Work } from './connections.js';
import { removeDeadObjects } from './large-contents.js';
import {
  type Candidate,
  countBatches,
  type RemovedBatch,
  readCandidates,
  readLoose,
  readSize,
  removeBatches,
  removeLateNotes,
  removeLoose,
  removeOutput,
  removeSessions,
} from './remove-rows.js';
import { ContentSweep } from './sweep-contents.js';

/** Runs one step of a prune: one transaction. */
export type RunStep = <T>(work: Work<T>) => Promise<T>;

/** The number of deliveries in one transaction. A larger batch has its own transaction. */
const CALLS_AT_ONCE = 500;
const BATCHES_A_PAGE = 5_000;
const CONVERSATIONS_AT_ONCE = 500;
/** The share of the estimate that is used: the oldest batches are not always the smallest. */
const CAUTION = 0.8;
/** How often batches of a conversation in use are tried again. */
const TRIALS = 3;
const BETWEEN_TRIALS_MS = 100;

/**
 * Removes old records of a tenant in many short transactions, while other processes use the journal. Several prunes may
 * run at the same time; each counts its own removals. An interrupted prune leaves nothing half removed.
 *
 * @throws the driver's error
 */
export function prunePostgres(
  run: RunStep,
  tenant: string,
  limits: PruneLimits,
  at: number,
): Promise<Pruned> {
  return new Pruning(run, tenant, limits, at).prune();
}

class Pruning {
  readonly #run: RunStep;
  readonly #tenant: string;
  readonly #limits: PruneLimits;
  readonly #at: number;
  readonly #sweep: ContentSweep;
  /** The records that a dry run has counted, with the conversation of each batch: their rows still exist. */
  readonly #counted = new Map<string, string>();
  #batches = 0;
  #calls = 0;
  #messages = 0;
  #blobs = 0;
  #bytes = 0;

  constructor(run: RunStep, tenant: string, limits: PruneLimits, at: number) {
    this.#run = run;
    this.#tenant = tenant;
    this.#limits = limits;
    this.#at = at;
    this.#sweep = new ContentSweep(run, tenant, limits.dryRun === true ? this.#counted : undefined);
  }

  async prune(): Promise<Pruned> {
    const { before, maxBytes } = this.#limits;
    const bytesBefore = await this.#run(readSize(this.#tenant));
    if (before !== undefined) {
      await this.#takeOut(before, '0', Number.POSITIVE_INFINITY);
      await this.#takeOutLoose(before);
      await this.#sweepContents();
    }
    if (maxBytes !== undefined) await this.#shrinkTo(maxBytes, bytesBefore);
    if (!this.#isDry) {
      await this.#run(removeOutput(this.#tenant, this.#at - LIVE_MS));
      await this.#run(removeSessions(this.#tenant, this.#at - ENDED_MS));
    }
    return {
      batches: this.#batches,
      calls: this.#calls,
      messages: this.#messages,
      blobs: this.#blobs,
      bytesBefore,
      bytesAfter: Math.max(0, bytesBefore - this.#bytes),
      shrunk: false,
    };
  }

  get #isDry(): boolean {
    return this.#limits.dryRun === true;
  }

  async #shrinkTo(maxBytes: number, bytesBefore: number): Promise<void> {
    let from = '0';
    for (;;) {
      const bytes = bytesBefore - this.#bytes;
      if (bytes <= maxBytes) return;
      const count = (await this.#run(countBatches(this.#tenant))) - this.#counted.size;
      const share = Math.max(1, Math.floor((count * (bytes - maxBytes) * CAUTION) / bytes));
      const last = await this.#takeOut(Number.POSITIVE_INFINITY, from, share);
      if (last === undefined) return;
      from = last.number;
      await this.#takeOutLoose(this.#limits.before ?? last.at);
      await this.#sweepContents();
    }
  }

  /**
   * Removes the oldest batches that were finished before a given time.
   * @param from only batches with a higher number.
   * @returns the last batch that it examined.
   */
  async #takeOut(before: number, from: string, most: number): Promise<Candidate | undefined> {
    let busy: string[] = [];
    let last: Candidate | undefined;
    for (let left = most; left > 0; ) {
      const limit = Math.min(left, BATCHES_A_PAGE);
      const page = await this.#run(readCandidates(this.#tenant, before, last?.number ?? from, limit));
      if (page.length === 0) break;
      for (const ids of inTurns(page)) busy.push(...(await this.#remove(ids, before)));
      last = page.at(-1);
      left -= page.length;
    }
    for (let trial = 0; busy.length > 0 && trial < TRIALS; trial++) {
      await pause(BETWEEN_TRIALS_MS);
      busy = await this.#remove(busy, before);
    }
    return last;
  }

  /** @returns the batches whose conversations are in use now. */
  async #remove(ids: readonly string[], before: number): Promise<string[]> {
    const rows = await this.#run(removeBatches(this.#tenant, ids, before, this.#isDry));
    for (const row of rows) if (!row.isBusy) this.#count(row);
    return rows.filter(({ isBusy }) => isBusy).map(({ id }) => id);
  }

  #count({ id, conversation, calls, bytes, hashes }: RemovedBatch): void {
    if (this.#counted.has(id)) return;
    if (this.#isDry) this.#counted.set(id, conversation);
    this.#batches++;
    this.#calls += calls;
    this.#bytes += bytes;
    this.#sweep.add(hashes);
  }

  /** Removes messages and facts, older than a given time, of conversations without any batch. */
  async #takeOutLoose(before: number): Promise<void> {
    const gone = new Map<string, number>();
    for (const name of this.#counted.values()) gone.set(name, (gone.get(name) ?? 0) + 1);
    for (const table of ['messages', 'facts'] as const) {
      const found = await this.#run(readLoose(this.#tenant, table, before));
      const loose = found.filter(({ conversation, batches }) => batches === (gone.get(conversation) ?? 0));
      const removed = this.#isDry ? [sumOf(loose)] : await this.#removeLoose(table, before, loose);
      for (const { rows, bytes } of removed) {
        if (table === 'messages') this.#messages += rows;
        this.#bytes += bytes;
      }
    }
  }

  async #removeLoose(
    table: 'messages' | 'facts',
    before: number,
    loose: readonly { readonly conversation: string }[],
  ): Promise<readonly Size[]> {
    const removed: Size[] = [];
    for (let start = 0; start < loose.length; start += CONVERSATIONS_AT_ONCE) {
      const names = loose.slice(start, start + CONVERSATIONS_AT_ONCE).map(({ conversation }) => conversation);
      removed.push(await this.#run(removeLoose(this.#tenant, table, before, names)));
    }
    return removed;
  }

  async #sweepContents(): Promise<void> {
    if (this.#batches + this.#messages === 0) return;
    if (!this.#isDry) await this.#run(removeLateNotes(this.#tenant));
    const { rows, bytes } = await this.#sweep.run();
    if (!this.#isDry) while ((await this.#run(removeDeadObjects(this.#tenant))) > 0) {}
    this.#blobs += rows;
    this.#bytes += bytes;
  }
}

export interface Size {
  readonly rows: number;
  readonly bytes: number;
}

function sumOf(sizes: readonly Size[]): Size {
  return {
    rows: sizes.reduce((sum, { rows }) => sum + rows, 0),
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** The ids of batches, grouped into one transaction each. */
function* inTurns(page: readonly Candidate[]): Iterable<readonly string[]> {
  let ids: string[] = [];
  let calls = 0;
  for (const { id, size } of page) {
    if (ids.length > 0 && calls + size > CALLS_AT_ONCE) {
      yield ids;
      [ids, calls] = [[], 0];
    }
    ids.push(id);
    // An empty batch also counts as one.
    calls += Math.max(size, 1);
  }
  if (ids.length > 0) yield ids;
}
