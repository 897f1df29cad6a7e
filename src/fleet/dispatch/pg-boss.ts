import { loadPeer } from '../../base/load-peer.js';
import type { Logger } from '../../contract/context.js';
import type { CallKey } from '../../contract/journal.js';
import { Rounds } from '../rounds.js';
import {
  LATE_MS,
  type QueueDispatcher,
  type QueueDispatcherOptions,
  queueOptions,
  withNotices,
} from './queue-dispatcher.js';

/** Errors need no message: without hints, workers still find calls by polling. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
/** The maximum number of hints in one fetch. */
const MOST_HINTS = 64;
/** A hint that no worker could use needs no second attempt: workers find the call by polling. */
const JOB = { retryLimit: 0 };

/** The parts of pg-boss that all supported versions have. */
interface Boss {
  on(event: 'error', listener: (error: Error) => void): unknown;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean; readonly close?: boolean }): Promise<unknown>;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object, options: object): Promise<unknown>;
  fetch(
    name: string,
    options: { readonly batchSize: number },
  ): Promise<readonly { readonly id: string; readonly data: { readonly key: CallKey } }[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
}

type BossConstructor = new (options: {
  readonly connectionString: string;
  readonly schedule: boolean;
}) => Boss;

/**
 * Hints as jobs of pg-boss, which the user installs. It creates its tables in the schema `pgboss`. Workers look for jobs twice a
 * second; a notification of the server (NOTIFY) arrives without delay.
 * @throws ToolError `config_invalid` for a wrong option, or if the package is not installed; otherwise the driver's error
 */
export async function pgBossDispatcher(options: QueueDispatcherOptions): Promise<QueueDispatcher> {
  const given = queueOptions('pgBossDispatcher', options);
  const { url: connectionString, queue } = given;
  const peer = { name: 'pg-boss', range: '^10.4.0' };
  const loaded: { readonly PgBoss?: unknown; readonly default?: unknown } = await loadPeer(
    'pgBossDispatcher',
    peer,
    () => import('pg-boss'),
  );
  const PgBoss = (loaded.PgBoss ?? loaded.default) as BossConstructor;
  const boss = new PgBoss({ connectionString, schedule: false });
  // It reports the same failures to its callers.
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue(queue);
  const listeners = new Set<(call: CallKey) => unknown>();
  const deliver = async (calls: readonly CallKey[]): Promise<void> => {
    await Promise.all(calls.flatMap((key) => [...listeners].map((onHint) => onHint(key))));
  };
  // `work` of pg-boss 10 ends the process if the server goes away while it marks a job as done.
  const look = async (): Promise<void> => {
    for (;;) {
      const jobs = listeners.size === 0 ? [] : await boss.fetch(queue, { batchSize: MOST_HINTS });
      if (jobs.length === 0) return;
      await deliver(jobs.map(({ data }) => data.key));
      const ids = jobs.map(({ id }) => id);
      await boss.complete(queue, ids);
    }
  };
  let rounds: Rounds | undefined;
  return withNotices(given, 'pgboss', {
    async hint(calls) {
      await Promise.all(calls.map((key) => boss.send(queue, { key }, JOB)));
    },
    listen(onHint) {
      listeners.add(onHint);
      if (rounds === undefined) {
        rounds = new Rounds(SILENT);
        rounds.repeat(look, LATE_MS);
      }
      return () => void listeners.delete(onHint);
    },
    async close() {
      listeners.clear();
      // Not awaited: fetching may have to wait for room in a worker.
      void rounds?.end();
      await boss.stop({ graceful: false, close: true });
    },
  });
}
