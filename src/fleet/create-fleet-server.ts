import {
  isFilledText,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import { type ListenAddress, parseListen } from '../base/parse-listen.js';
import type { CallRecord } from '../contract/journal.js';
import { ToolError } from '../errors/tool-error.js';
import { reasonOf } from '../executor/answer/results.js';
import { openWithBuiltins } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { hostQuotas, type QuotaOptions } from '../executor/quota-options.js';
import { expire, expired } from '../executor/record/await-elsewhere.js';
import { FleetRequests } from './answer-request.js';
import { freeSince } from './find-takable.js';
import { describeMetrics } from './fleet-metrics.js';
import { FleetTokens } from './fleet-tokens.js';
import { JournalFeed } from './journal-feed.js';
import { TenantDesk } from './tenant-desk.js';

export interface FleetServerOptions extends Pick<ExecutorOptions, 'logger' | 'clock'> {
  /** The journal that it shares with workers. */
  readonly journal: NonNullable<Exclude<ExecutorOptions['journal'], false>>;
  /** `[HOST:]PORT`, or a port; 0 is any free one. Default `127.0.0.1:0`. */
  readonly listen?: string | number;
  /** The names under which a proxy serves it, for the headers `Host` and `Origin`. Default: only names of this machine. */
  readonly names?: readonly string[];
  /** How long a call may wait for a worker if its sender does not say, in milliseconds. Default 300,000. */
  readonly startDeadlineMs?: number;
  /** Limits for each tenant. Every host, server and worker of a fleet should have the same. Default: none. */
  readonly quotas?: QuotaOptions;
  /** The maximum size of a request; default 33,554,432. */
  readonly maxBodyBytes?: number;
  /** The maximum number of open connections; default 1,000. */
  readonly maxConnections?: number;
  /** How long a client may take to send a request, in milliseconds. Default 30,000. */
  readonly receiveMs?: number;
}

export interface FleetServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Ends waits and streams, and every connection. Calls continue: they are in the journal. May be called twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

type OwnOptions = Omit<FleetServerOptions, 'journal' | 'logger' | 'clock' | 'quotas'>;

const RULES: OptionRules<Required<OwnOptions>> = {
  listen: option<string | number>('127.0.0.1:0', isAddress, '[HOST:]PORT, such as "127.0.0.1:8080" or 8080'),
  names: option<readonly string[]>([], isTextList, 'a list of names'),
  startDeadlineMs: option(300_000, isWhole(1), 'a whole number of milliseconds from 1'),
  maxBodyBytes: option(32 * 1024 * 1024, isWhole(1), 'a whole number of bytes from 1'),
  maxConnections: option(1_000, isWhole(1), 'a whole number of connections from 1'),
  receiveMs: option(30_000, isWhole(1), 'a whole number of milliseconds from 1'),
};

/** The time between two searches for dead workers, in milliseconds. */
const REAP_MS = 1_000;

function isAddress(value: unknown): boolean {
  return (isFilledText(value) || isWhole(0)(value)) && parseListen(String(value)) !== undefined;
}

/**
 * Serves a fleet over HTTP: it takes calls for workers, answers with their results, and takes approvals, cancellations
 * and readers of events. Every request needs a token of its tenant.
 * @throws ToolError `config_invalid` for a wrong option, or a journal that cannot queue calls; the operating system's
 * error if it cannot listen
 */
export async function createFleetServer(options: FleetServerOptions): Promise<FleetServer> {
  const { journal: given, logger: givenLogger, clock: givenClock, quotas, ...rest } = options ?? {};
  const { openQuota, running } = hostQuotas(quotas);
  const own = normalizeOptions('options', rest, RULES);
  if (given === undefined)
    throw new ToolError('config_invalid', 'options.journal is missing: a server and its workers share one.');
  const { executor, settings } = openWithBuiltins({
    journal: given,
    tools: [],
    ...(givenLogger === undefined ? {} : { logger: givenLogger }),
    ...(givenClock === undefined ? {} : { clock: givenClock }),
  });
  const { journal, clock, logger, createId, worker } = settings;
  let reapedAt = Number.NEGATIVE_INFINITY;
  try {
    if (journal?.queued === undefined || journal.cancel === undefined)
      throw new ToolError('config_invalid', 'options.journal cannot be shared: it knows no queued calls.');
    if (quotas !== undefined && journal.running === undefined)
      throw new ToolError(
        'config_invalid',
        'options.quotas needs a journal that counts the running calls of tenants.',
      );
    const tokens = new FleetTokens(journal);
    const { host, port } = parseListen(String(own.listen)) as ListenAddress;
    const closing = new AbortController();
    const feed = new JournalFeed({ journal, clock, logger, looked });
    const requests = new FleetRequests({
      ...{ host, names: own.names, clock, tokens, feed, maxBodyBytes: own.maxBodyBytes },
      deskOf: (tenant) =>
        new TenantDesk(tenant, {
          ...{ journal, clock, createId, worker, openQuota, quotas: running },
          startDeadlineMs: own.startDeadlineMs,
        }),
      metrics: () => describeMetrics({ journal, clock, counts: feed.counts, watchers: feed.readers }),
      alive: async () => journal.batches({ limit: 1 }),
      closing: closing.signal,
      failed: (error) => logger.error({ why: reasonOf(error) }, 'a request to a fleet server failed'),
    });
    const limits = { receiveMs: own.receiveMs, connections: own.maxConnections };
    const { serveHttp } = await import('../platform/runtime/serve-http.js');
    const service = await serveHttp({ host, port }, (request) => requests.answer(request), limits).catch(
      async (error: unknown) => {
        await feed.close();
        throw error;
      },
    );
    let ending: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      closing.abort();
      await feed.close();
      await service.close();
      await executor.close();
    };
    const close = (): Promise<void> => {
      ending ??= end();
      return ending;
    };
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${service.port}`;
    return { url, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await executor.close();
    throw error;
  }

  /**
   * The duties of a host for its own calls: it recovers the calls of dead workers, and expires calls that no worker
   * starts.
   */
  async function looked(open: readonly CallRecord[]): Promise<void> {
    if (journal === null) return;
    if (clock.monotonic() - reapedAt >= REAP_MS) {
      reapedAt = clock.monotonic();
      await executor.recovery.reap('');
    }
    for (const record of open) {
      const { placement, state, decision, callId: id, toolName: name } = record;
      const ms = placement?.startDeadlineMs;
      if (ms === undefined || state !== 'queued' || decision === 'wait') continue;
      if (clock.now() < (await freeSince(record, journal)) + ms) continue;
      await expire(record, { journal, clock }, expired({ id, name }, ms));
    }
  }
}
