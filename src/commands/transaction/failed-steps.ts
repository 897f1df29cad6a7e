import { describeErrno, errnoOf } from '../../platform/fs/fs-entry.js';
import { Conflict } from './held-places.js';
import type { FailedChange, PlannedChange } from './transaction-plan.js';

/** Why a step was not taken, without its index. */
export type Failure = Omit<FailedChange, 'index'>;

export function failureOf(error: unknown): Failure {
  if (error instanceof Conflict) return { reason: error.message, isConflict: true };
  const errno = errnoOf(error);
  if (errno === 'ENOTEMPTY' || errno === 'EEXIST')
    return { reason: 'another program has put something into it', isConflict: true };
  const reason =
    errno === undefined
      ? error instanceof Error
        ? error.message
        : String(error)
      : `${describeErrno(errno)} (${errno})`;
  return { reason, isConflict: false, ...(PASSING.has(errno) ? { isPassing: true } : {}) };
}

/** Temporary failures: the rest of the plan continues, and the failed changes are tried again later. */
const PASSING: ReadonlySet<string | undefined> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ENOMEM', 'EMFILE', 'ENFILE', 'EBUSY', 'EAGAIN'],
  undefined,
]);

/** The consequences of a failed change: nothing can be created in a missing directory. */
export class BlockedPlaces {
  /** The reasons by root and path. */
  readonly #below = new Map<string, string>();
  readonly #above = new Map<string, string>();

  explain({ root, path }: PlannedChange, failure: Failure): Failure {
    const names = path.split('/');
    const above = names.map((_, index) => `${root}/${names.slice(0, index + 1).join('/')}`);
    if (failure.isPassing === true) {
      this.#below.set(`${root}/${path}`, failure.reason);
      for (const place of above) this.#above.set(place, failure.reason);
      return failure;
    }
    const blocker = above.find((place) => this.#below.has(place));
    const reason = blocker === undefined ? this.#above.get(`${root}/${path}`) : this.#below.get(blocker);
    return reason === undefined ? failure : { reason, isConflict: false, isPassing: true };
  }
}
