import type { ToolResult } from '../../contract/call.js';
import type { CallRecord, Journal, WorkerSession } from '../../contract/journal.js';
import { SessionBeats } from '../../journal/records/session-beats.js';
import { reasonOf } from '../answer/results.js';
import type { RecoverySettings } from '../call/settings.js';
import { liesElsewhere, recoverCall } from './recover-call.js';
import { toRecoveredResult } from './recovered-result.js';

/** The default lease of a worker, in milliseconds. */
export const LEASE_MS = 30_000;
/** The minimum time between two searches, because many callers may request one. */
const PAUSE_MS = 100;

/**
 * Ends the sessions of workers that no longer renew them, and answers the calls that they had started.
 *
 * 1. A session is over when its beat has not changed for the length of its lease, on the monotonic clock of
 *   this process, or when its process is dead.
 * 2. Its calls never run again: a probe finds the outcome of a call, otherwise the outcome is unknown. Queued
 *   calls stay queued for other workers.
 * 3. A call whose files are on another machine is left to a worker with its root, as long as there is one.
 */
export class SessionReaper {
  readonly #settings: RecoverySettings;
  readonly #beats = new SessionBeats(LEASE_MS);
  #looking: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(settings: RecoverySettings) {
    this.#settings = settings;
  }

  /** Never rejects. @param own the worker that searches; its session is not ended */
  look(own?: string): Promise<void> {
    const { clock, logger, journal } = this.#settings;
    if (journal?.sessions === undefined) return Promise.resolve();
    if (clock.monotonic() - this.#lookedAt < PAUSE_MS) return this.#looking ?? Promise.resolve();
    this.#looking ??= this.#reapAll(journal, own)
      .catch((error: unknown) =>
        logger.error({ why: reasonOf(error) }, 'the calls of a worker could not be recovered'),
      )
      .finally(() => {
        this.#looking = undefined;
        this.#lookedAt = clock.monotonic();
      });
    return this.#looking;
  }

  async #reapAll(journal: Journal, own: string | undefined): Promise<void> {
    const { clock, isWorkerAlive } = this.#settings;
    const askedAt = clock.monotonic();
    const sessions = (await journal.sessions?.()) ?? [];
    const expired = new Set(this.#beats.expired(sessions, askedAt, clock.monotonic()));
    for (const session of sessions) if (!isWorkerAlive(session.worker)) expired.add(session);
    const living = sessions.filter((session) => !expired.has(session) && session.endedAt === undefined);
    for (const session of expired) {
      if (session.worker.id === own) continue;
      const left = await journal.reap?.(session.worker, session.beat, clock.now());
      for (const call of left ?? []) await this.#answer(call, journal, living);
    }
  }

  async #answer(call: CallRecord, journal: Journal, living: readonly WorkerSession[]): Promise<void> {
    const { placement } = call;
    const isElsewhere =
      !this.#hasRoot(placement?.root) || (await liesElsewhere(call, journal, this.#settings));
    if (!isElsewhere) return this.#finish(call, await recoverCall(call, this.#settings), journal);
    const { root } = placement ?? {};
    if (root !== undefined && living.some(({ roots = [] }) => roots.includes(root))) return;
    const outcome = { record: call, verdict: 'unknown', ready: undefined, inspected: undefined } as const;
    const result = toRecoveredResult({ ...outcome, notes: await journal.notes(call.key) }, this.#settings);
    await this.#finish(call, result, journal);
  }

  async #finish({ key, worker }: CallRecord, result: ToolResult, journal: Journal): Promise<void> {
    await journal.finish(key, result, this.#settings.clock.now(), worker ?? 'queued');
  }

  #hasRoot(root: string | undefined): boolean {
    return root === undefined || this.#settings.sandbox.roots.includes(root);
  }
}
