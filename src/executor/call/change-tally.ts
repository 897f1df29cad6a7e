import { isToolError } from '../../errors/tool-error.js';

/** Counts the file changes that a call has asked for. */
export class ChangeTally {
  #begun = 0;
  #refused = 0;

  /** Counts a change from start to end. */
  async count<T>(change: Promise<T>): Promise<T> {
    this.#begun++;
    try {
      return await change;
    } catch (error) {
      if (isRefusal(error)) this.#refused++;
      throw error;
    }
  }

  /**
   * True if the file system refused every change before it touched a file. False if no change was asked for.
   */
  get hasChangedNothing(): boolean {
    return this.#begun > 0 && this.#refused === this.#begun;
  }
}

/** Whether the file system itself refused a change and no part of the change remains. */
function isRefusal(error: unknown): boolean {
  if (!isToolError(error, 'execution_failed')) return false;
  const { errno, changed, lost } = error.details;
  return typeof errno === 'string' && changed !== true && lost === undefined;
}
