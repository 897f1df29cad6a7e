import type { CallRecord, Journal, WorkerOffer } from '../contract/journal.js';
import { fairPage } from '../journal/records/fair-order.js';
import { systemClock } from '../platform/clock/clock.js';

/** The number of queued calls that are read together. */
const PAGE = 64;
/** How long the rest of a page may be used, in milliseconds: without a new hint, and after one. */
const KEPT_MS = 1_000;
const KEPT_AFTER_HINT_MS = 100;

/**
 * The queued calls that a worker may try, in fair order.
 *
 * The journal must read all queued calls to find that order. If more calls are queued than fit into a page, the rest of
 * the page is therefore kept for the next look. Otherwise a worker with a queue of a thousand calls would have them sorted
 * again for every call. A kept call may be out of date: then its claim fails, as it does if two workers try one call.
 */
export class Candidates {
  #rest: CallRecord[] = [];
  #isFull = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #isHinted = false;

  /** New calls may be queued. */
  hinted(): void {
    this.#isHinted = true;
  }

  /** The kept calls are out of date. */
  forget(): void {
    this.#rest = [];
  }

  /** Each call at most once. A page that is not needed is not read. */
  async *read(journal: Journal, offer: WorkerOffer): AsyncGenerator<CallRecord> {
    const age = systemClock.monotonic() - this.#readAt;
    if (!this.#isFull || age >= (this.#isHinted ? KEPT_AFTER_HINT_MS : KEPT_MS)) this.forget();
    const given = new Set<string>();
    for (let skip = 0, isLast = false; ; skip += PAGE) {
      for (let next = this.#rest.shift(); next !== undefined; next = this.#rest.shift()) {
        if (given.has(next.key)) continue;
        given.add(next.key);
        yield next;
      }
      if (isLast) return;
      this.#isHinted = false;
      this.#readAt = systemClock.monotonic();
      this.#rest = [...(await readPage(journal, offer, skip))];
      this.#isFull = this.#rest.length === PAGE;
      isLast = this.#rest.length < PAGE || journal.running === undefined;
    }
  }
}

async function readPage(journal: Journal, offer: WorkerOffer, skip: number): Promise<readonly CallRecord[]> {
  if (journal.running !== undefined)
    return (await journal.queued?.({ limit: PAGE, offer, order: 'fair', skip })) ?? [];
  return fairPage(await readAll(journal, offer), [], { limit: Number.POSITIVE_INFINITY, offer });
}

async function readAll(journal: Journal, offer: WorkerOffer): Promise<readonly CallRecord[]> {
  const all: CallRecord[] = [];
  for (let after: string | undefined; ; ) {
    const place = after === undefined ? {} : { after };
    const page = (await journal.queued?.({ limit: PAGE, offer, ...place })) ?? [];
    all.push(...page);
    after = page.at(-1)?.key;
    if (page.length < PAGE || after === undefined) return all;
  }
}
