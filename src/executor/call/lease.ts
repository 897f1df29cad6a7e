import { ToolError } from '../../errors/tool-error.js';

/** Limits the life of a call's handles, and tracks the call's running processes. */
export class Lease {
  #alive = true;
  /** Created with the first process, because most calls start none. */
  #running: Set<Promise<unknown>> | undefined;

  get alive(): boolean {
    return this.#alive;
  }

  get processes(): number {
    return this.#running?.size ?? 0;
  }

  end(): void {
    this.#alive = false;
  }

  /** @throws ToolError `sandbox_violation` after the call has been answered. */
  require(action: string): void {
    if (this.#alive) return;
    throw new ToolError('sandbox_violation', `Cannot ${action}: the call is answered, its handles are dead.`);
  }

  holdProcess<T>(running: Promise<T>): Promise<T> {
    this.#running ??= new Set();
    this.#running.add(running);
    const release = (): void => {
      this.#running?.delete(running);
    };
    running.then(release, release);
    return running;
  }

  /** Resolves when the processes that are running now have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running ?? []);
  }
}
