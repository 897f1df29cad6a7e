import { isDeepStrictEqual } from 'node:util';
import type { Entry } from './reading.js';

/**
 * Gives every call that needs one an id, and marks a call that stands twice among the same results: it was written
 * down twice. An id that comes back later may be another call; its results will tell.
 */
export function settleCalls(entries: readonly Entry[]): void {
  const taken = new Set(entries.flatMap(({ id }) => id ?? []));
  for (const entry of entries) {
    if (entry.id === undefined && !entry.call.byOrder) entry.id = freeId(`call_${entry.call.index}`, taken);
  }
  for (const alike of byId(entries).values()) {
    for (const [at, entry] of alike.entries()) {
      const before = alike.slice(0, at).filter((other) => other.cluster === entry.cluster && !other.isCopy);
      entry.isCopy = before.some((other) => isSameCall(entry, other));
    }
  }
}

/** With the results matched: a repeated call that has none of its own is a copy; any other gets an id of its own. */
export function settleRepeats(entries: readonly Entry[]): void {
  const taken = new Set(entries.flatMap(({ id }) => id ?? []));
  for (const alike of byId(entries.filter(({ isCopy }) => !isCopy)).values()) {
    const kept: Entry[] = [];
    for (const entry of [...alike.filter(({ result }) => result !== undefined), ...alike]) {
      if (kept.includes(entry)) continue;
      if (entry.result === undefined && kept.some((other) => isSameCall(entry, other))) entry.isCopy = true;
      else kept.push(entry);
    }
    const [, ...renamed] = alike.filter(({ isCopy }) => !isCopy);
    for (const entry of renamed) entry.id = freeId(entry.id ?? '', taken);
  }
}

/** Written alike, id and all. */
export function isSameCall({ call: one }: Entry, { call: other }: Entry): boolean {
  return isDeepStrictEqual(one.raw, other.raw);
}

/** Calls with ids, those with one id together. */
function byId(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.id === undefined) continue;
    const group = groups.get(entry.id);
    if (group === undefined) groups.set(entry.id, [entry]);
    else group.push(entry);
  }
  return groups;
}

/** What the strictest provider takes for an id. */
const LONGEST_ID = 40;

function freeId(wanted: string, taken: Set<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const id = `${wanted.slice(0, LONGEST_ID - suffix.length)}${suffix}`;
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}
