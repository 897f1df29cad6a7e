import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { ObjectStore } from '../../contract/object-store.js';
import { pause, systemClock } from '../../platform/clock/clock.js';
import { migrate } from './migrate.js';
import { isBroken, isPassing } from './postgres-errors.js';

/** One connection, for the length of an operation. */
export interface Connection {
  /** In the text, `{s}` stands for the schema. */
  query<R extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>>;
  /** Where large contents are. If absent: in the database. */
  readonly objects?: ObjectStore;
}

/** @param again the same operation may have been committed before, and the answer lost */
export type Work<T> = (connection: Connection, again: boolean) => Promise<T>;

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** A step of the schema may read whole tables. */
const MIGRATION_MS = 600_000;

interface ConnectionsOptions {
  readonly pool: Pool;
  /** Quoted. */
  readonly schema: string;
  /** The maximum time of an operation, including waits for the server. */
  readonly patienceMs: number;
  readonly objects?: ObjectStore;
}

/**
 * Runs work over a pool of connections, and retries while the server is briefly unavailable. No operation exceeds its
 * time limit: if a server does not answer, the connection is dropped.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #isMigrated = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * @param stepMs more time for one attempt
   * @throws ToolError of the work, or the driver's error of the last attempt
   */
  async run<T>(work: Work<T>, askedAt = systemClock.monotonic(), stepMs = 0): Promise<T> {
    const deadline = askedAt + this.#options.patienceMs;
    let pauseMs = FIRST_PAUSE_MS;
    for (let again = false; ; again = true) {
      try {
        return await this.#attempt(work, again, Math.max(deadline, systemClock.monotonic() + stepMs));
      } catch (error) {
        const left = deadline - systemClock.monotonic();
        if (!isPassing(error) || left <= pauseMs) throw error;
        await pause(pauseMs * (0.5 + Math.random() / 2));
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  async #attempt<T>(work: Work<T>, again: boolean, deadline: number): Promise<T> {
    const client = await this.#options.pool.connect();
    let broken: Error | undefined;
    // Without a listener, a connection that ends between two queries would end the process.
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on('error', onError);
    try {
      const stepsMs = this.#isMigrated ? 0 : await this.#migrate(client, deadline);
      this.#isMigrated = true;
      return await work(this.#toConnection(client, deadline + stepsMs), again);
    } catch (error) {
      if (isBroken(error)) broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  /** @returns the time it took, which counts against no operation */
  async #migrate(client: PoolClient, deadline: number): Promise<number> {
    const began = systemClock.monotonic();
    await migrate(this.#toConnection(client, deadline), this.#toConnection(client, deadline + MIGRATION_MS));
    return systemClock.monotonic() - began;
  }

  #toConnection(client: PoolClient, deadline: number): Connection {
    const { schema, objects } = this.#options;
    return {
      ...(objects === undefined ? {} : { objects }),
      query: (text, values = []) => {
        const left = Math.max(deadline - systemClock.monotonic(), 1);
        // The driver accepts this option, although its types lack it.
        const asked = { text: text.replaceAll('{s}', schema), values: [...values], query_timeout: left };
        return client.query(asked);
      },
    };
  }
}

/**
 * Runs several operations in one transaction, which is sent as a whole: each must issue its writes before its first
 * `await`. If the process stops in between, the server undoes the transaction, so other processes do not wait for its
 * locks.
 */
export function inTransaction(works: readonly Work<void>[]): Work<void> {
  return async (connection, again) => {
    const begun = connection.query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'");
    const done = works.map((work) => work(connection, again));
    // After a failure, this undoes everything.
    const ended = connection.query('COMMIT');
    const outcomes = await Promise.allSettled([begun, ...done, ended]);
    const failure = outcomes.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
  };
}
