import { isToolError } from '../../errors/tool-error.js';

/** What is known of all the changes to files that a call has asked for. */
export class ChangeTally {
  #begun = 0;
  #refused = 0;

  /** Counts a change from its start to its end. */
  async count<T>(change: Promise<T>): Promise<T> {
    this.#begun++;
    try {
      return await change;
    } catch (error) {
      if (isRefusal(error)) this.#refused++;
      throw error;
    }
  }

  /** The file system has refused every change before a file was touched. False where none was asked for. */
  get hasChangedNothing(): boolean {
    return this.#begun > 0 && this.#refused === this.#begun;
  }
}

/** The file system's own refusal of a change, of which nothing was made or all was taken back. */
function isRefusal(error: unknown): boolean {
  if (!isToolError(error, 'execution_failed')) return false;
  const { errno, changed, lost } = error.details;
  return typeof errno === 'string' && changed !== true && lost === undefined;
}
