import type { CommandOutcome } from '../../contract/processes.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** Tracks whether any command of a call left a change. */
export class CommandTally {
  #running = 0;
  #ended = 0;
  #leftSomething = false;

  /** Counts a command from start to end. */
  async count<T extends Pick<CommandOutcome, 'discarded' | 'sandbox'>>(command: Promise<T>): Promise<T> {
    this.#running++;
    try {
      const outcome = await command;
      if (outcome.discarded === undefined || outcome.sandbox?.network !== false) this.#leftSomething = true;
      return outcome;
    } catch (error) {
      this.#leftSomething = true;
      throw error;
    } finally {
      this.#running--;
      this.#ended++;
    }
  }

  /** Records that the call started a command without waiting for its end. */
  leave(): void {
    this.#leftSomething = true;
  }

  /**
   * True if the call can do no more than run commands or its program, and the changes of every one were
   * discarded before they were committed.
   */
  hasLeftNothing({ tool, effects }: ReadyCall): boolean {
    if (this.#ended === 0 || this.#running > 0 || this.#leftSomething) return false;
    if (tool.program !== undefined) return true;
    return effects.length > 0 && effects.every(({ effect }) => effect.kind === 'run');
  }
}
