import type { Pool } from 'pg';
import type { ObjectStore } from '../../contract/object-store.js';
import { systemClock } from '../../platform/clock/clock.js';
import { journalIsClosed } from '../records/journal-errors.js';
import { type Connection, Connections, inTransaction, type Work } from './connections.js';
import { Lanes } from './lanes.js';
import { codeOf, isPassing, postgresFailure } from './postgres-errors.js';

export interface PostgresPlace {
  readonly pool: Pool;
  /** The pool ends with the journal. */
  readonly ownsPool: boolean;
  /** In stored form. */
  readonly tenant: string;
  /** Quoted. */
  readonly schema: string;
  /** The maximum time of an operation, including waits for the server. */
  readonly patienceMs: number;
  /** The server and the database, without the password. */
  readonly name: string;
  /** Where large contents are. If absent: in the database. */
  readonly objects?: ObjectStore;
}

/** A step may read whole tables. */
const STEP_MS = 600_000;

/** The lane of contents: records that refer to them are written afterwards. */
export const BYTES = 'bytes';

/**
 * The operations of a journal, in order.
 *
 * 1. Operations of one lane take effect in the order of the calls; lanes do not wait for each other. A
 *   question about all lanes waits for everything requested before it.
 * 2. A write whose answer was lost is sent again. The server recognizes it, so it counts once, and its answer
 *   is true.
 */
export class OrderedOperations {
  readonly #place: PostgresPlace;
  readonly #connections: Connections;
  readonly #lanes = new Lanes<Asked>((group) => this.#run(group));
  #closing: Promise<void> | undefined;
  #keeping: Promise<unknown> = Promise.resolve();

  constructor(place: PostgresPlace) {
    this.#place = place;
    this.#connections = new Connections(place);
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  close(): Promise<void> {
    this.#closing ??= this.#lanes.idle().then(async () => {
      if (this.#place.ownsPool) await this.#place.pool.end();
    });
    return this.#closing;
  }

  /** A question about all conversations. */
  async look<T>(action: string, toWork: (tenant: string) => Work<T>): Promise<T> {
    if (this.#closing !== undefined) throw journalIsClosed(action);
    const work = toWork(this.#place.tenant);
    await this.#lanes.idle();
    try {
      return await this.#connections.run(work);
    } catch (error) {
      throw postgresFailure(this.#place.name, error);
    }
  }

  /** A step of a long task on all records, which waits for no other operation. It may take longer. */
  async step<T>(action: string, work: Work<T>): Promise<T> {
    if (this.#closing !== undefined) throw journalIsClosed(action);
    try {
      return await this.#connections.run(work, systemClock.monotonic(), STEP_MS);
    } catch (error) {
      throw postgresFailure(this.#place.name, error);
    }
  }

  /** @param lane operations of the same lane take effect in the order of the calls */
  ask<T>(
    action: string,
    lane: string,
    kind: 'read' | 'write',
    toWork: (tenant: string) => Work<T>,
    stepMs = 0,
  ): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(journalIsClosed(action));
    let work: Work<T>;
    try {
      work = toWork(this.#place.tenant);
    } catch (error) {
      // Values that are not JSON: nothing was requested yet.
      return Promise.reject(postgresFailure(this.#place.name, error));
    }
    const keeping = this.#keeping;
    const asked = new Promise<T>((resolve, reject) => {
      this.#lanes.add(
        lane,
        new Asked(kind === 'write', lane === BYTES ? undefined : keeping, work, stepMs, resolve, reject),
      );
    });
    if (lane === BYTES) this.#keeping = Promise.allSettled([keeping, asked]);
    return asked;
  }

  /**
   * Runs a group of a lane: several writes in one transaction, or each alone if one of them fails by itself.
   */
  async #run(group: readonly Asked[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    // A content may take longer than an operation of the journal.
    const waitedFrom = systemClock.monotonic();
    for (const { after } of group) await after;
    const waitedMs = systemClock.monotonic() - waitedFrom;
    if (group.length > 1) {
      try {
        const together = inTransaction(
          group.map((asked) => (connection, again) => asked.run(connection, again)),
        );
        await this.#connections.run(together, first.askedAt + waitedMs);
        for (const asked of group) asked.succeed();
        return;
      } catch (error) {
        if (isPassing(error)) {
          for (const asked of group) asked.fail(postgresFailure(this.#place.name, error));
          return;
        }
      }
    }
    for (const asked of group) {
      try {
        const work: Work<void> = (connection, again) => asked.run(connection, again);
        await this.#connections.run(work, asked.askedAt + waitedMs, asked.stepMs);
        asked.succeed();
      } catch (error) {
        asked.fail(postgresFailure(this.#place.name, error));
      }
    }
  }
}

/** Turns conditions that the schema raises into our errors. */
export function refusing<T>(work: Work<T>, refusals: Readonly<Record<string, () => Error>>): Work<T> {
  return async (connection, again) => {
    try {
      return await work(connection, again);
    } catch (error) {
      throw refusals[codeOf(error) ?? '']?.() ?? error;
    }
  };
}

/** An operation and its promise. */
class Asked {
  readonly askedAt = systemClock.monotonic();
  readonly done: Promise<unknown>;
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
  readonly #work: Work<unknown>;
  #value: unknown;

  constructor(
    readonly writes: boolean,
    /** Operations that must end first. */
    readonly after: Promise<unknown> | undefined,
    work: Work<unknown>,
    /** Extra time for one attempt. */
    readonly stepMs: number,
    // The value comes from the work of the same call.
    resolve: (value: never) => void,
    reject: (error: Error) => void,
  ) {
    this.#work = work;
    let end = (): void => {};
    this.done = new Promise<void>((resolveDone) => {
      end = resolveDone;
    });
    this.succeed = () => {
      resolve(this.#value as never);
      end();
    };
    this.fail = (error) => {
      reject(error);
      end();
    };
  }

  async run(connection: Connection, again: boolean): Promise<void> {
    this.#value = await this.#work(connection, again);
  }
}
