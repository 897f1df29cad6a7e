import { loadPeer } from '../../base/load-peer.js';
import type { CallKey } from '../../contract/journal.js';
import { type QueueDispatcher, type QueueDispatcherOptions, queueOptions } from './queue-dispatcher.js';

/** The shortest pause between two looks that pg-boss allows. A notice makes it look at once. */
const LOOK_SECONDS = 0.5;
/** The maximum number of hints in one look. */
const MOST_HINTS = 64;
/** A hint that no worker could use is worth no second attempt: workers find the call by looking. */
const JOB = { retryLimit: 0 };

/** The parts of pg-boss that all supported versions have. */
interface Boss {
  on(event: 'error', listener: (error: Error) => void): unknown;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean; readonly close?: boolean }): Promise<unknown>;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object, options: object): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: readonly { readonly data: { readonly key: CallKey } }[]) => Promise<void>,
  ): Promise<string>;
  notifyWorker(id: string): void;
}

type BossConstructor = new (options: {
  readonly connectionString: string;
  readonly schedule: boolean;
}) => Boss;

/**
 * Hints as jobs of pg-boss, which the user installs. It creates its tables in the schema `pgboss`. pg-boss looks for jobs twice
 * a second; a notice of the server makes it look at once.
 * @throws ToolError `config_invalid` for a wrong option, or if the package is not installed; otherwise the driver's error
 */
export async function pgBossDispatcher(options: QueueDispatcherOptions): Promise<QueueDispatcher> {
  const { url: connectionString, queue } = queueOptions('pgBossDispatcher', options);
  const peer = { name: 'pg-boss', range: '^10.4.0' };
  const loaded: { readonly PgBoss?: unknown; readonly default?: unknown } = await loadPeer(
    'pgBossDispatcher',
    peer,
    () => import('pg-boss'),
  );
  const { openNotices } = await loadPeer(
    'pgBossDispatcher',
    { name: 'pg', range: '^8.16.0' },
    () => import('../../journal/postgres/notices.js'),
  );
  const PgBoss = (loaded.PgBoss ?? loaded.default) as BossConstructor;
  const boss = new PgBoss({ connectionString, schedule: false });
  // It reports the same failures to its callers.
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue(queue);
  const notices = openNotices(connectionString, 'pgboss', queue);
  const listeners = new Set<(call: CallKey) => unknown>();
  const deliver = async (calls: readonly CallKey[]): Promise<void> => {
    await Promise.all(calls.flatMap((key) => [...listeners].map((onHint) => onHint(key))));
  };
  let working: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    listeners.clear();
    closing ??= Promise.all([notices.close(), boss.stop({ graceful: false, close: true })]).then(() => {});
    return closing;
  };
  return {
    async hint(calls) {
      await Promise.all(calls.map((key) => boss.send(queue, { key }, JOB)));
      await notices.dispatcher.hint(calls.slice(0, 1));
    },
    listen(onHint) {
      listeners.add(onHint);
      const asked = { pollingIntervalSeconds: LOOK_SECONDS, batchSize: MOST_HINTS };
      working ??= boss
        .work(queue, asked, (jobs) => deliver(jobs.map(({ data }) => data.key)))
        .then((id) => void notices.dispatcher.listen(() => boss.notifyWorker(id)));
      // Without it, workers still find calls by looking.
      working.catch(() => {});
      return () => void listeners.delete(onHint);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
