import { systemClock } from '../platform/clock/clock.js';

/** How long a server may be silent. Each message from it restarts the time, which pauses while a person is asked. */
export class SilenceLimit {
  readonly #ms: number;
  readonly #onOver: () => void;
  #stop: (() => void) | undefined;
  #pauses = 0;
  #isOver = false;

  constructor(ms: number, onOver: () => void) {
    this.#ms = ms;
    this.#onOver = onOver;
    this.heard();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  heard(): void {
    this.end();
    if (this.#pauses > 0 || this.#isOver) return;
    this.#stop = systemClock.after(this.#ms, () => {
      this.#isOver = true;
      this.#onOver();
    });
  }

  async whilePaused<T>(wait: () => Promise<T>): Promise<T> {
    this.#pauses += 1;
    this.end();
    try {
      return await wait();
    } finally {
      this.#pauses -= 1;
      this.heard();
    }
  }

  end(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
