import { detach } from './byte-path.js';

/** Keeps the `capacity` smallest byte strings of a stream in bounded memory. */
export class Smallest {
  readonly #capacity: number;
  #kept: string[] = [];
  /** No string from here on can be among the smallest. */
  #ceiling: string | undefined;
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The number of strings seen. */
  get count(): number {
    return this.#count;
  }

  add(text: string): void {
    this.#count++;
    if (this.#ceiling !== undefined && text >= this.#ceiling) return;
    this.#kept.push(detach(text));
    if (this.#kept.length >= 2 * this.#capacity + SLACK) this.#shrink();
  }

  /** Whether no string with this prefix can be among the smallest. */
  isBeyond(start: string): boolean {
    return this.#ceiling !== undefined && start >= this.#ceiling;
  }

  /** Counts a string that is too large. */
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

/** So that small capacities are not sorted all the time. */
const SLACK = 256;
