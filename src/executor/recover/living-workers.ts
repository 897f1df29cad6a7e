import type { CallRecord, Journal, Worker } from '../../contract/journal.js';
import type { EngineSettings } from '../settings.js';

/** Which processes live of those that a journal names; each is looked up once. */
export class LivingWorkers {
  readonly #settings: Pick<EngineSettings, 'isWorkerAlive' | 'isWorkerVisible'>;
  readonly #journal: Journal;
  readonly #known = new Map<string, boolean>();
  #isAlone: boolean | undefined;

  constructor(settings: Pick<EngineSettings, 'isWorkerAlive' | 'isWorkerVisible'>, journal: Journal) {
    this.#settings = settings;
    this.#journal = journal;
  }

  /** Whether the process of a call is dead: that which has started it, or else that which would. */
  async isLeft({ worker: starter, acceptedBy }: CallRecord): Promise<boolean> {
    const worker = starter ?? acceptedBy;
    return worker === undefined || !(await this.has(worker));
  }

  async has(worker: Worker): Promise<boolean> {
    const known = this.#known.get(worker.id);
    if (known !== undefined) return known;
    const lives = await this.#find(worker);
    this.#known.set(worker.id, lives);
    return lives;
  }

  /**
   * What cannot be seen counts as alive, unless nobody else has the journal open: a process of another container, which
   * is most often the one that this one has taken the place of.
   */
  async #find(worker: Worker): Promise<boolean> {
    const { isWorkerAlive, isWorkerVisible } = this.#settings;
    if (!isWorkerAlive(worker)) return false;
    if (isWorkerVisible(worker)) return true;
    this.#isAlone ??= (await this.#journal.isAlone?.()) === true;
    return !this.#isAlone;
  }
}
