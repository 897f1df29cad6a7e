import type { Effect } from '../../contract/effect.js';

export type CommandVerdict = 'allow' | 'ask' | 'block';

/** What the analysis gathers; it only ever gets worse. */
export class Findings {
  readonly #blocks = new Set<string>();
  readonly #asks = new Set<string>();
  readonly #commands: string[][] = [];
  readonly #seen = new Map<object, Set<string>>();
  readonly #effects = new Map<string, Effect>();

  block(reason: string): void {
    if (this.#blocks.size < MAX_REASONS) this.#blocks.add(`Command blocked as dangerous: ${reason}`);
  }

  ask(reason: string): void {
    if (this.#asks.size < MAX_REASONS) this.#asks.add(reason);
  }

  /** A loop or a function is walked more than once: the same command of the same place counts once. */
  record(place: object, words: readonly string[]): void {
    const key = words.join('\0');
    const keys = this.#seen.get(place);
    if (keys?.has(key)) return;
    if (keys === undefined) this.#seen.set(place, new Set([key]));
    else keys.add(key);
    this.#commands.push([...words]);
  }

  effect(effect: Effect): void {
    this.#effects.set(JSON.stringify(effect), effect);
  }

  /** What another look found that is certain. */
  addBlocks(other: Findings): void {
    for (const reason of other.#blocks) if (this.#blocks.size < MAX_REASONS) this.#blocks.add(reason);
  }

  get isBlocked(): boolean {
    return this.#blocks.size > 0;
  }

  conclude(): { verdict: CommandVerdict; reasons: string[]; commands: string[][]; effects: Effect[] } {
    const verdict = this.isBlocked ? 'block' : this.#asks.size > 0 ? 'ask' : 'allow';
    const reasons = [...this.#blocks, ...this.#asks];
    return { verdict, reasons, commands: this.#commands, effects: [...this.#effects.values()] };
  }
}

const MAX_REASONS = 32;
