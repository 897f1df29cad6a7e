import packages from '../base/large-packages.cjs';
import {
  isFilledText,
  isFunction,
  isObject,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
  rulesOf,
} from '../base/normalize-options.js';
import type { Logger } from '../contract/context.js';
import type { ExternalToolsReport } from '../contract/external.js';
import { type OptionsIn, SETTINGS } from '../contract/settings.js';
import type { BreakerOptions } from './circuit-breaker.js';
import type { ConcurrencyLimits } from './limit-calls.js';
import type { BeginSpan } from './trace-context.js';
import type { VersionRanges } from './version-ranges.js';
import type { WarmOptions } from './warm-pool.js';

/** Options of `discoverTools`. */
export interface DiscoverOptions extends OptionsIn<'external'> {
  /**
   * Directories whose tools' declared effects are believed; true for all. Default: none, so every call has
   * unknown effects.
   */
  readonly trusted?: true | readonly string[];
  /** Called after a refresh with changes. Its errors are logged. */
  readonly onChange?: (report: ExternalToolsReport) => void;
  /** How many programs are asked for their schema at a time; default 8. */
  readonly concurrency?: number;
  /** For asking programs for their schema; calls use the executor's environment. */
  readonly environment?: { readonly denylist?: readonly string[]; readonly pass?: readonly string[] };
  /**
   * Stores descriptions and approvals. Default: `toolexec/external` in `$XDG_STATE_HOME`. False: nothing is
   * stored, so every start runs every program, and changes since approval are unknown.
   */
  readonly stateDirectory?: string | false;
  /**
   * Version ranges of tools by name, in npm syntax (`{ slug: '^1.2' }`). A tool outside its range has the
   * status `error`.
   */
  readonly versions?: VersionRanges;
  /**
   * Time limits of calls in milliseconds, by tool. They override the tool's own value and every configured
   * limit.
   */
  readonly timeouts?: Readonly<Record<string, number>>;
  /**
   * Concurrent calls, for each tool or by name. Other calls wait; conversations take turns. Default: no
   * limit.
   */
  readonly maxConcurrent?: ConcurrencyLimits;
  /**
   * After `threshold` consecutive failures (5) the tool is not called for `cooldownMs` (30000): calls are
   * answered with `circuit_open`. False: no breaker.
   */
  readonly breaker?: false | BreakerOptions;
  /** Processes that serve many calls. False: every call starts its own process. */
  readonly warm?: false | WarmOptions;
  /** Begins a span for a call, passes it to the tool (`TRACEPARENT`, `TRACESTATE`), and ends it. */
  readonly trace?: BeginSpan;
  /** Default: no log. */
  readonly logger?: Pick<Logger, 'warn'>;
}

type Normalized = { readonly [K in keyof DiscoverOptions]-?: DiscoverOptions[K] | undefined };

const DESCRIBED = rulesOf<Required<OptionsIn<'external'>>>(SETTINGS.external);

const RULES: OptionRules<Normalized> = {
  trusted: option(undefined, (value) => value === true || isTextList(value), 'true or a list of directories'),
  ...DESCRIBED,
  onChange: option(undefined, isFunction, 'a function'),
  concurrency: option(8, isWhole(1), 'a whole number from 1'),
  environment: option(undefined, isObject, 'an object'),
  stateDirectory: option(
    undefined,
    (value) => value === false || isFilledText(value),
    'a directory or false',
  ),
  versions: option(undefined, isRanges, 'an object of version ranges by tool, like { slug: "^1.2" }'),
  timeouts: option(undefined, isTimes, 'an object of milliseconds by tool, like { slug: 20_000 }'),
  maxConcurrent: option(undefined, isLimits, 'a whole number from 1, or an object of such numbers by tool'),
  breaker: option(undefined, isFalseOrObject, 'false or an object'),
  warm: option(undefined, isFalseOrObject, 'false or an object'),
  trace: option(undefined, isFunction, 'a function'),
  logger: option(undefined, isObject, 'a logger'),
};

function isFalseOrObject(value: unknown): boolean {
  return value === false || isObject(value);
}

function isRanges(value: unknown): boolean {
  return (
    isPlain(value) &&
    Object.values(value).every(
      (range) => typeof range === 'string' && packages.semver().validRange(range) !== null,
    )
  );
}

function isLimits(value: unknown): boolean {
  const isLimit = isWhole(1);
  return isLimit(value) || (isPlain(value) && Object.values(value).every(isLimit));
}

function isTimes(value: unknown): boolean {
  return isPlain(value) && Object.values(value).every((ms) => typeof ms === 'number' && ms > 0);
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const BREAKER_RULES = rulesOf<Required<BreakerOptions>>(SETTINGS['external.breaker']);
const WARM_RULES = rulesOf<Required<WarmOptions>>(SETTINGS['external.warm']);

/** @throws ToolError `config_invalid` */
export function normalizeDiscoverOptions(given: DiscoverOptions) {
  const options = normalizeOptions('discoverTools', given, RULES);
  return {
    ...options,
    watch: options.watch ?? DESCRIBED.watch.fallback,
    concurrency: options.concurrency ?? 8,
    maxOutputBytes: options.maxOutputBytes ?? DESCRIBED.maxOutputBytes.fallback,
    versions: options.versions ?? {},
    breaker:
      options.breaker === false
        ? undefined
        : normalizeOptions('discoverTools.breaker', options.breaker, BREAKER_RULES),
    warm:
      options.warm === false ? undefined : normalizeOptions('discoverTools.warm', options.warm, WARM_RULES),
  };
}
