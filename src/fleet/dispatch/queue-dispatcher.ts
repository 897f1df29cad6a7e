import { isFilledText, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { Dispatcher } from '../../contract/fleet.js';

/** Where a queue keeps the hints. */
export interface QueueDispatcherOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  readonly url: string;
  /**
   * The name of the queue, default `toolexec`. A worker that gets a hint of another journal cannot use it: processes with
   * different journals, or tenants of `postgresJournal`, need different queues.
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
