import type {
  CallRecord,
  Placement,
  QueuedPage,
  RunningCount,
  RunningQuotas,
} from '../../contract/journal.js';

/** The parts of a call that determine its place in the order and its quotas. */
export interface PlacedCall extends Pick<CallRecord, 'conversation' | 'toolName'> {
  readonly placement?: Placement | undefined;
}

/**
 * Queued calls in the order in which workers take them, without those that a quota holds back.
 *
 * 1. Tenants take turns. A tenant's running calls count as turns that it has had, so a few calls of one tenant do not
 *    wait behind a thousand calls of another.
 * 2. Of one tenant, calls with a higher priority come first.
 * 3. Of equal priority, the conversations of a tenant take turns, and each keeps the order of acceptance.
 *
 * @param queued in order of acceptance
 */
export function fairPage<T extends PlacedCall>(
  queued: readonly T[],
  running: readonly RunningCount[],
  { limit, skip = 0, offer }: QueuedPage,
): readonly T[] {
  const turns = new Counter();
  const free = queued
    .filter((call) => !isHeldBack(call, running, offer?.quotas))
    .map((call, age) => {
      const priority = call.placement?.priority ?? 0;
      const tenant = tenantOf(call.placement);
      return { call, age, priority, tenant, turn: turns.next(`${tenant}\n${call.conversation}`) };
    })
    .sort((a, b) => b.priority - a.priority || a.turn - b.turn || a.age - b.age);
  const places = new Counter();
  return free
    .map((each) => ({ ...each, place: countOf(running, each.tenant) + places.next(each.tenant) }))
    .sort((a, b) => a.place - b.place || b.priority - a.priority || a.age - b.age)
    .slice(skip, skip + limit)
    .map(({ call }) => call);
}

/** The labels that a quota can limit: those that a database stores unchanged. */
export const LIMITED_LABEL = /^[\w./@-]{1,64}$/;

/** Whether a tenant has as many running calls as a quota of the placement or of the worker allows. @param ofJournal the journal's tenant */
export function isHeldBack(
  { placement, toolName }: Omit<PlacedCall, 'conversation'>,
  running: readonly RunningCount[],
  offered: RunningQuotas | undefined,
  ofJournal?: string,
): boolean {
  const tenant = tenantOf(placement, ofJournal);
  return [placement?.quotas, offered].some((quotas) => {
    if (quotas === undefined) return false;
    const { running: all = Number.POSITIVE_INFINITY, tools = {}, labels = {} } = quotas;
    const isReached = (limits: Readonly<Record<string, number>>, name: string, which: Which): boolean =>
      Object.hasOwn(limits, name) && countOf(running, tenant, which) >= (limits[name] ?? 0);
    return (
      countOf(running, tenant) >= all ||
      isReached(tools, toolName, (each) => each.toolName === toolName) ||
      placement?.labels?.some((label) => isReached(labels, label, (each) => each.labels?.includes(label)))
    );
  });
}

/** Counts running calls by tenant, tool and labels. */
export function countRunning(
  calls: Iterable<Omit<PlacedCall, 'conversation'>>,
  ofJournal?: string,
): readonly RunningCount[] {
  const counts = new Map<string, RunningCount>();
  for (const { placement, toolName } of calls) {
    const tenant = tenantOf(placement, ofJournal);
    const { labels = [] } = placement ?? {};
    const of = { tenant, toolName, ...(labels.length === 0 ? {} : { labels }) };
    const key = JSON.stringify(of);
    counts.set(key, { ...of, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

/** @param ofJournal the tenant of the journal, which applies if the placement names none */
export function tenantOf(placement: Placement | undefined, ofJournal = 'default'): string {
  return placement?.tenant ?? ofJournal;
}

type Which = (running: RunningCount) => boolean | undefined;

function countOf(running: readonly RunningCount[], tenant: string, which: Which = () => true): number {
  return running
    .filter((each) => each.tenant === tenant && which(each))
    .reduce((sum, { count }) => sum + count, 0);
}

class Counter {
  readonly #counts = new Map<string, number>();

  next(key: string): number {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return count;
  }
}
