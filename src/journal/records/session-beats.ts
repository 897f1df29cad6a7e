import type { WorkerSession } from '../../contract/journal.js';

/** How long a prune leaves a session that is over and has no calls left: a day, in milliseconds. */
export const ENDED_MS = 86_400_000;

interface SeenBeat {
  readonly beat: number;
  /** The time of the first look that saw it, on the observer's monotonic clock. */
  readonly since: number;
}

/**
 * Finds expired sessions: those whose beat has not changed for the length of a lease, on this observer's
 * monotonic clock. Times of other machines are never compared.
 */
export class SessionBeats {
  #seen: ReadonlyMap<string, SeenBeat> = new Map();

  /** @param leaseMs for sessions that name no lease */
  constructor(private readonly leaseMs: number) {}

  /**
   * @param sessions the answer of `Journal.sessions`
   * @param askedAt the time of the question: the beats may have changed since
   * @param now the time of the answer
   * @returns the expired sessions, and those that are over and have unfinished calls; `reap` returns these
   * calls
   */
  expired(sessions: readonly WorkerSession[], askedAt: number, now: number): readonly WorkerSession[] {
    const seen = new Map<string, SeenBeat>();
    const expired = sessions.filter(({ worker, beat, endedAt, leaseMs = this.leaseMs }) => {
      if (endedAt !== undefined) return true;
      const name = `${worker.epoch} ${worker.id}`;
      const before = this.#seen.get(name);
      const same = before?.beat === beat ? before : { beat, since: now };
      seen.set(name, same);
      return askedAt - same.since >= leaseMs;
    });
    this.#seen = seen;
    return expired;
  }
}
