import { detach } from './byte-path.js';

/** Keeps the `capacity` smallest of however many byte strings come by, in a bounded amount of memory. */
export class Smallest {
  readonly #capacity: number;
  #kept: string[] = [];
  /** Nothing from here on can be among the smallest. */
  #ceiling: string | undefined;
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many came by. */
  get count(): number {
    return this.#count;
  }

  add(text: string): void {
    this.#count++;
    if (this.#ceiling !== undefined && text >= this.#ceiling) return;
    this.#kept.push(detach(text));
    if (this.#kept.length >= 2 * this.#capacity + SLACK) this.#shrink();
  }

  /** Whether nothing that begins so can be among the smallest. */
  isBeyond(start: string): boolean {
    return this.#ceiling !== undefined && start >= this.#ceiling;
  }

  /** Counts one that is beyond. */
  pass(): void {
    this.#count++;
  }

  /** In ascending order. */
  sorted(): readonly string[] {
    this.#shrink();
    return this.#kept;
  }

  #shrink(): void {
    this.#kept.sort();
    if (this.#kept.length <= this.#capacity) return;
    this.#kept.length = this.#capacity;
    this.#ceiling = this.#kept.at(-1);
  }
}

/** So that little capacities are not sorted for all the time. */
const SLACK = 256;
