import { isWhole, normalizeOptions, type OptionRules, option } from '../base/normalize-options.js';
import type { RunningQuotas } from '../contract/journal.js';
import { LIMITED_LABEL } from '../journal/records/fair-order.js';

/** Limits for each tenant. */
export interface QuotaOptions extends RunningQuotas {
  /**
   * Open calls: accepted ones without a result. A batch that would exceed the limit is refused as a whole with
   * `quota_exceeded`. Default: no limit.
   */
  readonly open?: number;
  /** Calls that run at the same time on all workers together. Further calls wait for their turn. Default: no limit. */
  readonly running?: number;
  /** The same limit for single tools, by name. */
  readonly tools?: Readonly<Record<string, number>>;
  /** The same limit for calls with a label, by label. */
  readonly labels?: Readonly<Record<string, number>>;
}

const isCount = isWhole(1);
const isCounts = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isCount);

const isCountsOfLabels = (value: unknown): boolean =>
  isCounts(value) && Object.keys(value as object).every((label) => LIMITED_LABEL.test(label));

const RUNNING_RULES: OptionRules<{ [K in keyof RunningQuotas]-?: RunningQuotas[K] | undefined }> = {
  running: option<number | undefined>(undefined, isCount, 'a whole number of calls from 1'),
  tools: option<RunningQuotas['tools']>(undefined, isCounts, 'whole numbers of calls from 1, by tool name'),
  labels: option<RunningQuotas['labels']>(
    undefined,
    isCountsOfLabels,
    'whole numbers of calls from 1, by label (at most 64 letters, digits and . _ / @ -)',
  ),
};

const RULES: OptionRules<{ [K in keyof QuotaOptions]-?: QuotaOptions[K] | undefined }> = {
  open: option<number | undefined>(undefined, isCount, 'a whole number of calls from 1'),
  ...RUNNING_RULES,
};

/** The quotas of a host. @throws ToolError `config_invalid` */
export function hostQuotas(given: QuotaOptions | undefined): {
  readonly openQuota: number | undefined;
  readonly running: RunningQuotas | undefined;
} {
  const { open, ...rest } = normalizeOptions('fleet.quotas', given, RULES);
  return { openQuota: open, running: present(rest) };
}

/** The quotas of a worker, which accepts no calls. @throws ToolError `config_invalid` */
export function workerQuotas(given: RunningQuotas | undefined): RunningQuotas | undefined {
  return present(normalizeOptions('options.quotas', given, RUNNING_RULES));
}

type Given = { readonly [K in keyof RunningQuotas]: RunningQuotas[K] | undefined };

function present({ running, tools, labels }: Given): RunningQuotas | undefined {
  if (running === undefined && tools === undefined && labels === undefined) return undefined;
  return {
    ...(running === undefined ? {} : { running }),
    ...(tools === undefined ? {} : { tools: { ...tools } }),
    ...(labels === undefined ? {} : { labels: { ...labels } }),
  };
}
