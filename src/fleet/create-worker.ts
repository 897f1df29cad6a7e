import {
  isObject,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { Dispatcher } from '../contract/fleet.js';
import type { RunningQuotas } from '../contract/journal.js';
import { ToolError } from '../errors/tool-error.js';
import { openWithBuiltins } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { workerQuotas } from '../executor/quota-options.js';
import { LEASE_MS } from '../executor/recover/reap-sessions.js';
import { newWorkerOfThisProcess } from '../platform/process/worker-of-this-process.js';
import { FleetWorker } from './fleet-worker.js';
import { WorkerLease } from './worker-lease.js';

/**
 * Options of a worker: those of `createExecutor`, without `fleet`. Its policy can refuse a call that a host
 * has approved. The host's approval answers the questions of its policy, unless the worker has an `approver`.
 */
export interface WorkerOptions extends Omit<ExecutorOptions, 'fleet' | 'journal'> {
  /** The journal that it shares with hosts and other workers. */
  readonly journal: NonNullable<Exclude<ExecutorOptions['journal'], false>>;
  /** The same as `root`. */
  readonly roots?: ExecutorOptions['root'];
  /** The labels of calls that it accepts, besides calls without labels. Default: none. */
  readonly labels?: readonly string[];
  /** The maximum number of calls that run at once; default 8. */
  readonly concurrency?: number;
  /** The time for which its claims are valid without a renewal, in milliseconds; default 30000. */
  readonly leaseMs?: number;
  /** Limits for each tenant, on all workers together. Placements of calls may have lower ones. Default: none. */
  readonly quotas?: RunningQuotas;
  /**
   * Wakes it when calls may be taken. Default: the dispatcher of the journal; a journal without one is polled often.
   */
  readonly dispatcher?: Dispatcher;
}

interface OwnOptions {
  readonly labels: readonly string[];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly quotas: RunningQuotas | undefined;
  readonly dispatcher: Dispatcher | undefined;
}

const RULES: OptionRules<OwnOptions> = {
  labels: option<readonly string[]>([], isTextList, 'a list of labels'),
  concurrency: option(8, isWhole(1), 'a whole number of calls from 1'),
  leaseMs: option(LEASE_MS, isWhole(100), 'a whole number of milliseconds from 100'),
  quotas: option<RunningQuotas | undefined>(undefined, isObject, 'an object with running, tools or labels'),
  dispatcher: option<Dispatcher | undefined>(undefined, isDispatcher, 'a dispatcher (hint, listen)'),
};

function isDispatcher(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ['hint', 'listen'].every((name) => typeof Reflect.get(value, name) === 'function');
}

/**
 * Starts a worker: it takes queued calls from the journal, runs them, and records their results. Drain or close it when
 * done (`await using` closes it).
 * @throws ToolError `config_invalid` for a wrong option, or a journal that cannot queue calls
 */
export function createWorker(options: WorkerOptions): FleetWorker {
  const {
    labels,
    concurrency,
    leaseMs,
    quotas: given,
    dispatcher,
    roots,
    root = roots,
    ...rest
  } = options ?? {};
  const own = normalizeOptions('options', { labels, concurrency, leaseMs, quotas: given, dispatcher }, RULES);
  const quotas = workerQuotas(own.quotas);
  if (root !== roots && roots !== undefined) {
    throw new ToolError(
      'config_invalid',
      'options.root and options.roots name the same thing: give one of them.',
    );
  }
  if ('fleet' in rest) {
    throw new ToolError('config_invalid', 'options.fleet is for hosts: a worker runs its calls itself.');
  }
  if (rest.journal === undefined) {
    throw new ToolError(
      'config_invalid',
      'options.journal is missing: a worker takes its calls from a journal.',
    );
  }
  const { executor, settings } = openWithBuiltins(root === undefined ? rest : { ...rest, root });
  const { journal, clock, logger, registry, sandbox } = settings;
  if (journal?.queued === undefined || journal.renew === undefined || journal.reap === undefined) {
    void executor.close();
    throw new ToolError(
      'config_invalid',
      'options.journal cannot be shared: it knows no queued calls and no sessions.',
    );
  }
  if (quotas !== undefined && journal.running === undefined) {
    void executor.close();
    throw new ToolError(
      'config_invalid',
      'options.quotas needs a journal that counts the running calls of tenants.',
    );
  }
  const offer = {
    labels: own.labels,
    roots: sandbox.roots,
    ...(quotas === undefined ? {} : { quotas }),
  };
  return new FleetWorker({
    ...{ executor, journal, clock, logger, offer },
    ...{
      concurrency: own.concurrency,
      leaseMs: own.leaseMs,
      dispatcher: own.dispatcher ?? journal.dispatcher,
    },
    lease: new WorkerLease(newWorkerOfThisProcess(), journal, clock, { ...offer, leaseMs: own.leaseMs }),
    hasTool: (name) => registry.has(name),
    asksItself: rest.approver !== undefined,
  });
}
