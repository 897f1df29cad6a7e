import type { CommandOutcome } from '../../contract/processes.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** What is known of all that the commands of a call have done. */
export class CommandTally {
  #running = 0;
  #ended = 0;
  #leftSomething = false;

  /** Counts a command from its start to its end. */
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

  /** A command was begun that no call waits for. */
  leave(): void {
    this.#leftSomething = true;
  }

  /** Everything that the call may do is to run commands, or its program, and the changes of each were dropped before they were real. */
  hasLeftNothing({ tool, effects }: ReadyCall): boolean {
    if (this.#ended === 0 || this.#running > 0 || this.#leftSomething) return false;
    if (tool.program !== undefined) return true;
    return effects.length > 0 && effects.every(({ effect }) => effect.kind === 'run');
  }
}
