import { loadPeer } from '../../base/load-peer.js';
import type { CallKey } from '../../contract/journal.js';
import { type QueueDispatcher, type QueueDispatcherOptions, queueOptions } from './queue-dispatcher.js';

/** A hint that a worker could not use is worth no second attempt: workers find the call by looking. */
const ATTEMPTS = 1;

/**
 * Hints as jobs of graphile-worker, which the user installs. It creates its tables in the schema `graphile_worker`.
 * @throws ToolError `config_invalid` for a wrong option, or if the package is not installed; otherwise the driver's error
 */
export async function graphileDispatcher(options: QueueDispatcherOptions): Promise<QueueDispatcher> {
  const { url: connectionString, queue } = queueOptions('graphileDispatcher', options);
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
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.all([...runners].map(stop)).then(() => utils.release());
    return closing;
  };
  return {
    async hint(calls) {
      if (calls.length === 0) return;
      await utils.addJobs(
        calls.map((key) => ({ identifier: queue, payload: { key }, maxAttempts: ATTEMPTS })),
      );
    },
    listen(onHint) {
      const onJob = async (payload: unknown): Promise<void> => onHint((payload as { key: CallKey }).key);
      const runner = run({ ...silent, concurrency: 1, noHandleSignals: true, taskList: { [queue]: onJob } });
      runners.add(runner);
      // A runner that fails listens no longer: workers still find calls by looking.
      runner.then(({ promise }) => promise.catch(() => {})).catch(() => {});
      return () => void stop(runner);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
