import {
  isBoolean,
  isFilledText,
  isFunction,
  isObject,
  isTextList,
  normalizeOptions,
  type OptionRules,
  option,
  rulesOf,
} from '../base/normalize-options.js';
import type { AgentRunner } from '../contract/agent-runner.js';
import type { Approver, Reviewer } from '../contract/approval.js';
import type { Clock, Logger, Middleware } from '../contract/context.js';
import type { ExecutorMode } from '../contract/executor.js';
import type { ToolSource } from '../contract/external.js';
import type { Dispatcher } from '../contract/fleet.js';
import type { Journal } from '../contract/journal.js';
import type { DecisionObserver, Policy, PolicyFunction } from '../contract/policy.js';
import type { Asker } from '../contract/question.js';
import { type OptionsIn, SETTINGS } from '../contract/settings.js';
import type { Telemetry } from '../contract/telemetry.js';
import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import type { SandboxRoot } from '../files/sandbox-options.js';
import { checkHooks, type HookOptions } from '../hooks/hook-options.js';
import type { RedactArguments } from '../journal/redaction/redaction-rules.js';
import type { PolicyOptions } from '../policy/rules/policy-options.js';
import { definitionFlaws } from '../schema/definition-flaws.js';
import type { BuiltinToolsOptions } from './builtin-tools.js';
import type { ResultCacheOptions } from './cache/create-result-cache.js';
import type { QuotaOptions } from './quota-options.js';

/** Limits on accepted input (D015 to D019). */
export type LimitOptions = OptionsIn<'executor.limits'>;
/** Milliseconds (D117). */
export type TimeoutOptions = OptionsIn<'executor.timeouts'>;
export type SandboxOptions = OptionsIn<'executor.sandbox'>;
/** What a command may use. If it hits a limit, the error has `details.limit`. If absent: not limited. */
export type CommandLimitOptions = OptionsIn<'executor.commandLimits'>;
export type OutputOptions = OptionsIn<'executor.output'>;
/**
 * Where the calls run: in this process, or in workers of a fleet (`createWorker`) that share its journal. A worker
 * decides how many calls run at the same time; conflicting calls of a conversation run in order. If the executor has a
 * `root`, calls that touch files or run commands run only in workers with that root.
 */
export interface FleetOptions extends OptionsIn<'executor.fleet'> {
  /** The tenant that owns these calls, if several tenants share the workers. Default: the tenant of the journal. */
  readonly tenant?: string;
  /** Limits for each tenant. Every host and worker of a fleet should have the same. */
  readonly quotas?: QuotaOptions;
  /** Carries hints to workers, so that they poll less. Default: the dispatcher of the journal, if it has one. */
  readonly dispatcher?: Dispatcher;
}
type EnvironmentOptions = OptionsIn<'executor.environment'>;

/** A journal that ends with the process. */
export interface JournalInMemory {
  /**
   * Arguments that are not recorded, along with anything that repeats their values: `true` for all, or
   * patterns `TOOL/POINTER`, where the tool may be left out (`bash/command`, `/password`,
   * `http_post/headers/*`). Such a call cannot be undone, nor run by another process. Default: none.
   */
  readonly redactArguments?: RedactArguments;
}

/** A journal in a file. */
export interface JournalFile extends JournalInMemory, OptionsIn<'journal'> {
  readonly path: string;
}

export interface ExecutorOptions {
  /**
   * Tools, lists of tools and sources, whose changes are followed; or a registry. Default `builtinTools()`.
   */
  readonly tools?: readonly (Tool | readonly Tool[] | ToolSource)[] | Registry;
  /**
   * Sources of tools in addition to `tools` (`discoverTools`). A tool whose name is taken is left out, and
   * that is logged.
   */
  readonly external?: ToolSource | readonly ToolSource[];
  /** Options of `builtinTools()`, if `tools` is left out. */
  readonly builtins?: BuiltinToolsOptions;
  /** What a model is shown in mode `parse_only` instead of the tools (D114). Default: the tools. */
  readonly definitions?: readonly ToolDefinition[];
  /**
   * The roots of the sandbox, each optionally with its own `hardLinks`; the first is the working directory.
   * Default `.`.
   */
  readonly root?: string | SandboxRoot | readonly (string | SandboxRoot)[];
  /** Default `enabled`. */
  readonly mode?: ExecutorMode;
  /** Options for the policy, your own policy (also a function), or null for none (the sandbox stays). */
  readonly policy?: PolicyOptions | Policy | PolicyFunction | null;
  /**
   * Called after every decision of the policy; an error that it throws is logged and changes nothing (C035).
   */
  readonly onDecision?: DecisionObserver;
  /**
   * `contained`: commands run only in the OS sandbox and without network (`sandbox` may override that). In a
   * transaction they run without a question, and need approval when they have ended if they changed files
   * that run later or deleted something. Default `none`.
   */
  readonly profile?: OptionsIn<'executor'>['profile'];
  readonly sandbox?: SandboxOptions;
  readonly limits?: LimitOptions;
  readonly timeouts?: TimeoutOptions;
  readonly output?: OutputOptions;
  /** Caches results of reads as long as no file has changed; default 100 results for 300000 ms. */
  readonly cache?: false | ResultCacheOptions;
  /** For commands: additional variables to remove, and exceptions. */
  readonly environment?: EnvironmentOptions;
  readonly commandLimits?: CommandLimitOptions;
  /** Called in order between plan and approval. */
  readonly reviewers?: readonly Reviewer[];
  /** Programs that are called before and after a call, in the shape of `hooks` in `settings.json`. */
  readonly hooks?: HookOptions;
  readonly middleware?: readonly Middleware[];
  /**
   * If absent: calls that need approval are refused (`approval_unavailable`). Null: approval is skipped on
   * purpose.
   */
  readonly approver?: Approver | null;
  /** Does the work of sub-agents, and adds the tool `task` if `tools` is left out. A loop provides its own runner. */
  readonly agents?: AgentRunner;
  /**
   * Asks the person the questions of a tool (`ask_user_question`). If absent: such a call fails with a message that says
   * so.
   */
  readonly asker?: Asker;
  /**
   * A path, a file with options, your own journal, or false. Default: in memory, which does not survive the
   * process.
   */
  readonly journal?: string | JournalFile | JournalInMemory | Journal | false;
  readonly fleet?: FleetOptions;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Spans and metrics of calls: `otel()` of `toolexec/otel`. Default: none. */
  readonly telemetry?: Telemetry;
  readonly clock?: Clock;
}

export const LIMIT_RULES = rulesOf<Required<LimitOptions>>(SETTINGS['executor.limits']);
export const TIMEOUT_RULES = rulesOf<Required<TimeoutOptions>>(SETTINGS['executor.timeouts']);
export const SANDBOX_RULES = rulesOf<Required<SandboxOptions>>(SETTINGS['executor.sandbox']);
export const OUTPUT_RULES = rulesOf<Required<OutputOptions>>(SETTINGS['executor.output']);
export const ENVIRONMENT_RULES = rulesOf<Required<EnvironmentOptions>>(SETTINGS['executor.environment']);
export const COMMAND_LIMIT_RULES = rulesOf<{ [K in keyof CommandLimitOptions]-?: number | undefined }>(
  SETTINGS['executor.commandLimits'],
);

export const JOURNAL_FILE_RULES: OptionRules<{ [K in keyof JournalFile]-?: JournalFile[K] | undefined }> = {
  path: option(undefined, isFilledText, 'a path'),
  ...rulesOf<Required<OptionsIn<'journal'>>>(SETTINGS.journal),
  redactArguments: option<RedactArguments>(
    false,
    (value) => isBoolean(value) || isTextList(value),
    'true, false or a list of patterns such as "bash/command"',
  ),
};

const isFunctionList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'function');
/**
 * An object with the required methods: a mistake is found when the executor is created, not in the middle of a batch.
 */
const can =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((method) => typeof Reflect.get(value, method) === 'function');
const isRegistry = can('find', 'get', 'has', 'list', 'register', 'definitions');

/** A source of tools that come and go. */
export function isToolSource(value: unknown): value is ToolSource {
  if (typeof value !== 'object' || value === null) return false;
  // A getter may create its list at the first use, which is later.
  const own = Object.getOwnPropertyDescriptor(value, 'tools');
  return (
    'tools' in value &&
    (own?.value === undefined || Array.isArray(own.value)) &&
    'revision' in value &&
    typeof value.revision === 'number'
  );
}

const isJournal = can(
  ...['accept', 'claim', 'note', 'finish', 'sync', 'call', 'find', 'batch', 'unfinished', 'notes', 'close'],
);
/** Its other fields are checked during normalization. */
const isJournalFile = (value: unknown): boolean =>
  isObject(value) &&
  !('accept' in Object(value)) &&
  ('path' in Object(value) || 'redactArguments' in Object(value));
const isPolicy = can('decide');
const isTenant = (value: unknown): boolean => typeof value === 'string' && /^[\w.-]{1,64}$/.test(value);
export const FLEET_RULES: OptionRules<{ [K in keyof FleetOptions]-?: FleetOptions[K] | undefined }> = {
  ...rulesOf<Required<OptionsIn<'executor.fleet'>>>(SETTINGS['executor.fleet']),
  tenant: option(undefined, isTenant, 'a name of A-Z, a-z, 0-9, ., _ and -, at most 64 characters'),
  quotas: option(undefined, isObject, 'an object with open, running, tools or labels'),
  dispatcher: option(undefined, can('hint', 'listen'), 'a dispatcher (hint, listen)'),
};

const TOP_SETTINGS = rulesOf<Required<OptionsIn<'executor'>>>(SETTINGS.executor);

const TOP_RULES: OptionRules<{ [K in keyof ExecutorOptions]-?: ExecutorOptions[K] | undefined }> = {
  tools: option(
    undefined,
    (value) => Array.isArray(value) || isRegistry(value),
    'a list of tools or a registry',
  ),
  external: option(
    undefined,
    (value) => [value].flat().every(isToolSource),
    'what discoverTools has given, or a list of such sources',
  ),
  builtins: option(undefined, isObject, 'an object'),
  definitions: option(undefined, Array.isArray, 'a list of definitions'),
  root: option(
    undefined,
    // The sandbox checks the fields of objects in it.
    (value) => [value].flat().every((root) => typeof root === 'string' || isObject(root)),
    'a path or a list of paths',
  ),
  mode: { ...TOP_SETTINGS.mode, fallback: undefined },
  policy: option(
    undefined,
    (value) =>
      value === null ||
      typeof value === 'function' ||
      isPolicy(value) ||
      (isObject(value) && !('decide' in Object(value))),
    'policy options, a policy, a function or null',
  ),
  onDecision: option(undefined, (value) => typeof value === 'function', 'a function'),
  profile: { ...TOP_SETTINGS.profile, fallback: undefined },
  sandbox: option(undefined, isObject, 'an object'),
  limits: option(undefined, isObject, 'an object'),
  timeouts: option(undefined, isObject, 'an object'),
  output: option(undefined, isObject, 'an object'),
  cache: option(undefined, (value) => value === false || isObject(value), 'an object or false'),
  environment: option(undefined, isObject, 'an object'),
  commandLimits: option(undefined, isObject, 'an object'),
  reviewers: option(undefined, isFunctionList, 'a list of functions'),
  hooks: option(undefined, isObject, 'an object of events'),
  middleware: option(undefined, isFunctionList, 'a list of functions'),
  approver: option(undefined, (value) => value === null || typeof value === 'function', 'a function or null'),
  agents: option(undefined, isFunction, 'a function'),
  asker: option(undefined, isFunction, 'a function'),
  journal: option(
    undefined,
    (value) => value === false || isFilledText(value) || isJournal(value) || isJournalFile(value),
    'a path, { path, onLoss, redactArguments }, a journal or false',
  ),
  fleet: option(undefined, isObject, 'an object'),
  logger: option(undefined, can('debug', 'info', 'warn', 'error'), 'a logger (debug, info, warn, error)'),
  telemetry: option(undefined, can('batch'), 'a value that otel() returned'),
  clock: option(undefined, can('now', 'monotonic', 'after'), 'a clock (now, monotonic, after)'),
};

/** @throws ToolError `config_invalid` with the option's name. */
export function checkExecutorOptions(options: unknown): asserts options is ExecutorOptions {
  normalizeOptions('options', options, TOP_RULES);
  const { root, definitions, hooks } = options as ExecutorOptions;
  if (hooks !== undefined) checkHooks(hooks);
  if (Array.isArray(root) && root.length === 0) {
    throw new ToolError('config_invalid', 'options.root must name at least one directory.');
  }
  const [flaw] = definitions === undefined ? [] : definitionFlaws(definitions, 'inputSchema');
  if (flaw !== undefined) throw new ToolError('config_invalid', `options.definitions${flaw.problem}`);
}
