/** Which earlier calls each call has to wait for; indexes are places in the batch. */
export type WaitsFor = (later: number, earlier: number) => boolean;

interface Work {
  /** Pieces of work. */
  readonly count: number;
  /** How many run at a time. */
  readonly limit: number;
  readonly waitsFor: WaitsFor | undefined;
  /** Starts a piece; true where it is done at once. Must not throw. */
  readonly start: (index: number) => boolean;
}

/**
 * Runs pieces of work that start in order, but one that has to wait for an earlier one lets later ones pass. The end of
 * a piece that is not done at once is told by `finished`.
 */
export class Schedule {
  readonly #work: Work;
  readonly #allDone: () => void;
  readonly #blockers: number[];
  readonly #dependents: readonly number[][];
  /** May start, in order. */
  readonly #ready: number[] = [];
  #running = 0;
  #left: number;

  constructor(work: Work, allDone: () => void) {
    const { blockers, dependents } = dependencies(work.count, work.waitsFor);
    this.#work = work;
    this.#allDone = allDone;
    this.#blockers = blockers;
    this.#dependents = dependents;
    this.#left = work.count;
    for (let index = 0; index < work.count; index++) if (blockers[index] === 0) this.#ready.push(index);
  }

  begin(): void {
    while (this.#running < this.#work.limit && this.#ready.length > 0) {
      const index = this.#ready.shift() as number;
      this.#running++;
      if (this.#work.start(index)) this.#release(index);
    }
    if (this.#left === 0) this.#allDone();
  }

  finished(index: number): void {
    this.#release(index);
    this.begin();
  }

  #release(index: number): void {
    this.#running--;
    this.#left--;
    for (const later of this.#dependents[index] ?? []) {
      const left = (this.#blockers[later] ?? 0) - 1;
      this.#blockers[later] = left;
      if (left === 0) insertInOrder(this.#ready, later);
    }
  }
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
