import { ShellPool } from './shell-pool.js';

/**
 * The background shells of this program (B032–B040): every `new ShellManager()` is the same one, until `reset()`. An
 * executor has shells of its own. When the program ends, however it does, its shells end too.
 */
export class ShellManager extends ShellPool {
  static #shared: ShellManager | undefined;

  constructor() {
    super();
    // biome-ignore lint/correctness/noConstructorReturn: one instance for all is what B039 asks for.
    if (ShellManager.#shared !== undefined) return ShellManager.#shared;
    ShellManager.#shared = this;
  }

  /** The next `new ShellManager()` is a fresh one, from this moment on. Resolves when all shells of the old are dead. */
  static async reset(): Promise<void> {
    const old = ShellManager.#shared;
    ShellManager.#shared = undefined;
    await old?.killAll();
  }
}
