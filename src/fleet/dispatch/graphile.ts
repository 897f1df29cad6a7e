import { loadPeer } from '../../base/load-peer.js';
import type { CallKey } from '../../contract/journal.js';
import {
  LATE_MS,
  type QueueDispatcher,
  type QueueDispatcherOptions,
  queueOptions,
  withNotices,
} from './queue-dispatcher.js';

/** A hint that a worker could not use needs no second attempt: workers find the call by polling. */
const ATTEMPTS = 1;
/** Jobs are fetched and removed in bulk, twice a second each. */
const BATCHES = {
  pollInterval: LATE_MS,
  localQueue: { size: 64, refetchDelay: { durationMs: LATE_MS, threshold: 63, maxAbortThreshold: Infinity } },
  completeJobBatchDelay: LATE_MS,
};

/**
 * Hints as jobs of graphile-worker, which the user installs. It creates its tables in the schema `graphile_worker`.
 * @throws ToolError `config_invalid` for a wrong option, or if the package is not installed; otherwise the driver's error
 */
export async function graphileDispatcher(options: QueueDispatcherOptions): Promise<QueueDispatcher> {
  const given = queueOptions('graphileDispatcher', options);
  const { url: connectionString, queue } = given;
  const peer = { name: 'graphile-worker', range: '^0.17.0' };
  const { Logger, makeWorkerUtils, run } = await loadPeer(
    'graphileDispatcher',
    peer,
    () => import('graphile-worker'),
  );
  const silent = { connectionString, logger: new Logger(() => () => {}) };
  const utils = await makeWorkerUtils(silent);
  await utils.migrate();
  const runners = new Set<ReturnType<typeof run>>();
  const stop = async (runner: ReturnType<typeof run>): Promise<void> => {
    runners.delete(runner);
    await runner.then((each) => each.stop()).catch(() => {});
  };
  return withNotices(given, 'graphile_worker', {
    async hint(calls) {
      await utils.addJobs(
        calls.map((key) => ({ identifier: queue, payload: { key }, maxAttempts: ATTEMPTS })),
      );
    },
    listen(onHint) {
      const onJob = async (payload: unknown): Promise<void> => onHint((payload as { key: CallKey }).key);
      const runner = run({
        ...{ ...silent, concurrency: 1, noHandleSignals: true, preset: { worker: BATCHES } },
        taskList: { [queue]: onJob },
      });
      runners.add(runner);
      // A failed runner no longer listens, but workers still find calls by polling.
      runner.then(({ promise }) => promise.catch(() => {})).catch(() => {});
      return () => void stop(runner);
    },
    async close() {
      await Promise.all([...runners].map(stop));
      await utils.release();
    },
  });
}
