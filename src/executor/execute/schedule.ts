/** Which earlier calls each call has to wait for; indexes are places in the batch. */
export type WaitsFor = (later: number, earlier: number) => boolean;

/**
 * Runs `count` pieces of work, at most `limit` at a time. They start in order, but a piece that has to wait for an
 * earlier one lets later ones pass. `work` must not reject.
 */
export async function schedule(
  count: number,
  limit: number,
  waitsFor: WaitsFor | undefined,
  work: (index: number) => Promise<void>,
): Promise<void> {
  if (limit === 1) {
    for (let index = 0; index < count; index++) await work(index);
    return;
  }
  const { blockers, dependents } = dependencies(count, waitsFor);
  const ready: number[] = [];
  for (let index = 0; index < count; index++) if (blockers[index] === 0) ready.push(index);
  await new Promise<void>((resolve) => {
    let running = 0;
    let done = 0;
    const pump = (): void => {
      while (running < limit && ready.length > 0) {
        const index = ready.shift() as number;
        running++;
        void work(index).then(() => finished(index));
      }
      if (done === count) resolve();
    };
    const finished = (index: number): void => {
      running--;
      done++;
      for (const later of dependents[index] ?? []) {
        const left = (blockers[later] ?? 0) - 1;
        blockers[later] = left;
        if (left === 0) insertInOrder(ready, later);
      }
      pump();
    };
    pump();
  });
}

interface Dependencies {
  readonly blockers: number[];
  readonly dependents: readonly number[][];
}

function dependencies(count: number, waitsFor: WaitsFor | undefined): Dependencies {
  const blockers = new Array<number>(count).fill(0);
  const dependents = Array.from({ length: count }, (): number[] => []);
  if (waitsFor === undefined) return { blockers, dependents };
  for (let later = 1; later < count; later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      if (!waitsFor(later, earlier)) continue;
      blockers[later] = (blockers[later] ?? 0) + 1;
      dependents[earlier]?.push(later);
    }
  }
  return { blockers, dependents };
}

function insertInOrder(ready: number[], index: number): void {
  const at = ready.findIndex((other) => other > index);
  if (at === -1) ready.push(index);
  else ready.splice(at, 0, index);
}
