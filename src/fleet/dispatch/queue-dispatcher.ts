import { loadPeer } from '../../base/load-peer.js';
import { isFilledText, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { Dispatcher } from '../../contract/fleet.js';

/** The place where a queue keeps the hints. */
export interface QueueDispatcherOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  readonly url: string;
  /**
   * The name of the queue, default `toolexec`. A worker cannot use a hint about another journal, so processes with
   * different journals, or different tenants of `postgresJournal`, need different queues.
   */
  readonly queue?: string;
}

/** A dispatcher over a queue, with connections that must be closed. */
export interface QueueDispatcher extends Dispatcher, AsyncDisposable {
  /** Stops listening, and closes the connections. May be called twice. */
  close(): Promise<void>;
}

const RULES: OptionRules<Required<QueueDispatcherOptions>> = {
  url: option('', isFilledText, 'an address such as "postgres://user@host/database"'),
  queue: option(
    'toolexec',
    (value) => typeof value === 'string' && /^[\w.-]{1,64}$/.test(value),
    'a name of A-Z, a-z, 0-9, ., _ and -, at most 64 characters',
  ),
};

/** @throws ToolError `config_invalid` */
export function queueOptions(
  label: string,
  options: QueueDispatcherOptions,
): Required<QueueDispatcherOptions> {
  const given = normalizeOptions(label, options, RULES);
  if (given.url === '') normalizeOptions(label, { url: null }, RULES);
  return given;
}

/** How long a hint may stay in a queue whose workers have already been notified of it, in milliseconds. */
export const LATE_MS = 500;

/**
 * Also sends each hint with NOTIFY. A notification arrives without delay but may be lost; a queue keeps hints, but
 * delivers them later and in bulk. With both, a call does not wait for the commits of the queue.
 * @param schema of the queue's tables
 */
export async function withNotices(
  { url, queue }: Required<QueueDispatcherOptions>,
  schema: string,
  inQueue: Dispatcher & { close(): Promise<void> },
): Promise<QueueDispatcher> {
  const peer = { name: 'pg', range: '^8.16.0' };
  const { openNotices } = await loadPeer(schema, peer, () => import('../../journal/postgres/notices.js'));
  const notices = openNotices(url, schema, queue);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.all([notices.close(), inQueue.close()]).then(() => {});
    return closing;
  };
  return {
    async hint(calls) {
      if (calls.length === 0) return;
      await Promise.all([notices.dispatcher, inQueue].map((each) => each.hint(calls)));
    },
    listen(onHint) {
      const unlisteners = [notices.dispatcher, inQueue].map((each) => each.listen(onHint));
      return () => {
        for (const unlisten of unlisteners) unlisten();
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
