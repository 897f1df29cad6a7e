import {
  isBoolean,
  isFilledText,
  isFunction,
  isObject,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { AgentRunner } from '../contract/agent-runner.js';
import type { Approver, Reviewer } from '../contract/approval.js';
import type { Clock, Logger, Middleware } from '../contract/context.js';
import type { ExecutorMode } from '../contract/executor.js';
import type { ToolSource } from '../contract/external.js';
import type { Journal } from '../contract/journal.js';
import { OUTPUT_LIMITS } from '../contract/output-limits.js';
import type { DecisionObserver, Policy, PolicyFunction } from '../contract/policy.js';
import type { Asker } from '../contract/question.js';
import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { type HardLinks, isHardLinks, type SandboxRoot } from '../files/sandbox-options.js';
import { checkHooks, type HookOptions } from '../hooks/hook-options.js';
import { ON_JOURNAL_LOSS, type OnJournalLoss } from '../journal/open-journal.js';
import type { RedactArguments } from '../journal/redaction/redaction-rules.js';
import type { PolicyOptions } from '../policy/rules/policy-options.js';
import { definitionFlaws } from '../schema/definition-flaws.js';
import type { BuiltinToolsOptions } from './builtin-tools.js';
import type { ResultCacheOptions } from './cache/create-result-cache.js';

/** Limits on what is accepted (D015 to D019). */
export interface LimitOptions {
  /** Default 8. */
  readonly maxToolCallsPerBatch?: number;
  /** How many batches a tool loop runs in one turn of the person; default 4. */
  readonly maxToolIterationsPerUserTurn?: number;
  /** Bytes of serialized arguments; default 262144. */
  readonly maxToolArgsBytes?: number;
  /** Bytes of one patch; default 524288. */
  readonly maxApplyPatchBytes?: number;
  /** Bytes of an unsliced read; default 204800. */
  readonly maxFileReadBytes?: number;
  /** Bytes that may be scanned to find a range of lines; default 2097152. */
  readonly maxReadFileScanBytes?: number;
}

/** Milliseconds (D117). */
export interface TimeoutOptions {
  /** Default 30000. */
  readonly defaultMs?: number;
  /** Default 30000. */
  readonly fileOperationsMs?: number;
  /** Default 300000. */
  readonly shellCommandsMs?: number;
  /** Default 300000. */
  readonly externalToolsMs?: number;
}

export interface SandboxOptions {
  readonly deniedPatterns?: readonly string[];
  readonly deniedWritePatterns?: readonly string[];
  /** Accept absolute paths inside the roots; default false. */
  readonly allowAbsolute?: boolean;
  readonly includeDefaultDenies?: boolean;
  /**
   * The sandbox of the operating system around commands (bubblewrap). `required`: without it no command runs.
   * `preferred` (default): without it every command needs approval. `off`: not used.
   */
  readonly os?: 'off' | 'preferred' | 'required';
  /**
   * Which external tools also run in it, with the roots, network and `readable` of commands: those from
   * directories that are not trusted, all, or none (default).
   */
  readonly externalTools?: 'off' | 'untrusted' | 'all';
  /** Whether commands inside it can reach the network; default false. */
  readonly network?: boolean;
  /** Directories outside the roots that commands inside it may read, such as toolchains. Default: none. */
  readonly readable?: readonly string[];
  /** Regular files with several names, in roots without their own setting: default `allow`. */
  readonly hardLinks?: HardLinks;
  /**
   * Commands as transactions: their changes are compared with the rules and committed when they have ended.
   * `auto` (default): where this machine can. `required`: otherwise no command runs. `off`: never.
   */
  readonly transactions?: 'auto' | 'off' | 'required';
  /** Megabytes that one command may change; default 2048. */
  readonly maxTransactionMb?: number;
  /** What happens to the changes of a command that was stopped before its end: default `discard`. */
  readonly onTimeout?: 'discard' | 'keep';
  /**
   * What happens if others have changed the same files while a command ran. `rerun` (default): the command,
   * which has had no effect, runs again on the current files, at most twice, and then fails with `conflict`;
   * not with the network on. `fail`: it fails at once. `keep_rest`: changes without a conflict are committed,
   * and the call still fails.
   */
  readonly onConflict?: 'rerun' | 'fail' | 'keep_rest';
  /**
   * With the network off, whether `bash` may ask the person to let programs of this machine reach a port of
   * its commands; default false.
   */
  readonly exposePorts?: boolean;
}

/** What a command may use. If it hits a limit, the error has `details.limit`. Left out: not limited. */
export interface CommandLimitOptions {
  /**
   * CPU time of each process, which is then ended by SIGXCPU. Unlimited by default, because builds may take
   * long.
   */
  readonly cpuSeconds?: number;
  /** Private memory of each process, as RLIMIT_DATA counts it. Unlimited by default. */
  readonly memoryMb?: number;
  /** Processes at a time, including the shell; default 4096. With more, the command is ended. */
  readonly processes?: number;
  /** Size of each written file; then SIGXFSZ. Unlimited by default. */
  readonly fileSizeMb?: number;
}

export interface OutputOptions {
  /** Bytes of the text of a result; default 102400. */
  readonly maxBytes?: number;
  /** Bytes of pictures, sounds and documents in a result; default 20971520. A larger block becomes a text. */
  readonly maxContentBytes?: number;
}

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
export interface JournalFile extends JournalInMemory {
  readonly path: string;
  /**
   * What happens if the file lacks records that were once in it. `warn` (default): it is logged, and calls
   * that had run may run again. `refuse`: nothing runs (`journal_unavailable`).
   */
  readonly onLoss?: OnJournalLoss;
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
  readonly profile?: 'none' | 'contained';
  readonly sandbox?: SandboxOptions;
  readonly limits?: LimitOptions;
  readonly timeouts?: TimeoutOptions;
  readonly output?: OutputOptions;
  /** Caches results of reads as long as no file has changed; default 100 results for 300000 ms. */
  readonly cache?: false | ResultCacheOptions;
  /** For commands: additional variables to remove, and exceptions. */
  readonly environment?: { readonly denylist?: readonly string[]; readonly pass?: readonly string[] };
  readonly commandLimits?: CommandLimitOptions;
  /** Called in order between plan and approval. */
  readonly reviewers?: readonly Reviewer[];
  /** Programs that are called before and after a call, in the shape of `hooks` in `settings.json`. */
  readonly hooks?: HookOptions;
  readonly middleware?: readonly Middleware[];
  /**
   * Left out: calls that need approval are refused (`approval_unavailable`). Null: approval is skipped on
   * purpose.
   */
  readonly approver?: Approver | null;
  /** Does the work of sub-agents, and adds the tool `task` if `tools` is left out. A loop brings its own. */
  readonly agents?: AgentRunner;
  /** Asks the person a tool's questions (`ask_user_question`). Left out: such a call fails and says so. */
  readonly asker?: Asker;
  /**
   * A path, a file with options, your own journal, or false. Default: in memory, which does not survive the
   * process.
   */
  readonly journal?: string | JournalFile | JournalInMemory | Journal | false;
  /** Default: silent. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

export const LIMIT_RULES: OptionRules<Required<LimitOptions>> = {
  maxToolCallsPerBatch: option(8, isWhole(1), 'a whole number from 1'),
  maxToolIterationsPerUserTurn: option(4, isWhole(1), 'a whole number from 1'),
  maxToolArgsBytes: option(262_144, isWhole(1), 'a whole number of bytes from 1'),
  maxApplyPatchBytes: option(524_288, isWhole(1), 'a whole number of bytes from 1'),
  maxFileReadBytes: option(204_800, isWhole(1), 'a whole number of bytes from 1'),
  maxReadFileScanBytes: option(2_097_152, isWhole(1), 'a whole number of bytes from 1'),
};

export const TIMEOUT_RULES: OptionRules<Required<TimeoutOptions>> = {
  defaultMs: option(30_000, isWhole(1), 'a whole number of milliseconds from 1'),
  fileOperationsMs: option(30_000, isWhole(1), 'a whole number of milliseconds from 1'),
  shellCommandsMs: option(300_000, isWhole(1), 'a whole number of milliseconds from 1'),
  externalToolsMs: option(300_000, isWhole(1), 'a whole number of milliseconds from 1'),
};

export const COMMAND_LIMIT_RULES: OptionRules<{ [K in keyof CommandLimitOptions]-?: number | undefined }> = {
  cpuSeconds: option(undefined, isWhole(1), 'a whole number of seconds from 1'),
  memoryMb: option(undefined, isWhole(1), 'a whole number of megabytes from 1'),
  processes: option(4096, isWhole(1), 'a whole number of processes from 1'),
  fileSizeMb: option(undefined, isWhole(1), 'a whole number of megabytes from 1'),
};

export const OUTPUT_RULES: OptionRules<Required<OutputOptions>> = {
  maxBytes: option(OUTPUT_LIMITS.resultBytes, isWhole(0), 'a whole number of bytes from 0'),
  maxContentBytes: option(OUTPUT_LIMITS.contentBytes, isWhole(0), 'a whole number of bytes from 0'),
};

export const ENVIRONMENT_RULES: OptionRules<{ denylist: readonly string[]; pass: readonly string[] }> = {
  denylist: option([], isTextList, 'a list of names'),
  pass: option([], isTextList, 'a list of names'),
};

type OnConflict = 'rerun' | 'fail' | 'keep_rest';
const ON_CONFLICT: readonly OnConflict[] = ['rerun', 'fail', 'keep_rest'];
const TRANSACTIONS = ['auto', 'off', 'required'];
const PROFILES = ['none', 'contained'];
const OS_WALLS = ['off', 'preferred', 'required'];

export const SANDBOX_RULES: OptionRules<Required<SandboxOptions>> = {
  deniedPatterns: option([], isTextList, 'a list of patterns'),
  deniedWritePatterns: option([], isTextList, 'a list of patterns'),
  allowAbsolute: option(false, isBoolean, 'true or false'),
  includeDefaultDenies: option(true, isBoolean, 'true or false'),
  os: option<'off' | 'preferred' | 'required'>(
    'preferred',
    (value) => OS_WALLS.includes(value as string),
    `one of ${OS_WALLS.join(', ')}`,
  ),
  externalTools: option<'off' | 'untrusted' | 'all'>(
    'off',
    (value) => value === 'off' || value === 'untrusted' || value === 'all',
    'one of off, untrusted, all',
  ),
  network: option(false, isBoolean, 'true or false'),
  readable: option([], isTextList, 'a list of directories'),
  hardLinks: option('allow', isHardLinks, 'one of allow, refuse'),
  transactions: option<'auto' | 'off' | 'required'>(
    'auto',
    (value) => TRANSACTIONS.includes(value as string),
    `one of ${TRANSACTIONS.join(', ')}`,
  ),
  maxTransactionMb: option(2048, isWhole(1), 'a whole number of megabytes from 1'),
  onTimeout: option<'discard' | 'keep'>(
    'discard',
    (value) => value === 'discard' || value === 'keep',
    'one of discard, keep',
  ),
  onConflict: option<OnConflict>(
    'rerun',
    (value) => ON_CONFLICT.some((known) => known === value),
    `one of ${ON_CONFLICT.join(', ')}`,
  ),
  exposePorts: option(false, isBoolean, 'true or false'),
};

export const JOURNAL_FILE_RULES: OptionRules<{ [K in keyof JournalFile]-?: JournalFile[K] | undefined }> = {
  path: option(undefined, isFilledText, 'a path'),
  onLoss: option<OnJournalLoss>(
    'warn',
    (value) => ON_JOURNAL_LOSS.some((known) => known === value),
    `one of ${ON_JOURNAL_LOSS.join(', ')}`,
  ),
  redactArguments: option<RedactArguments>(
    false,
    (value) => isBoolean(value) || isTextList(value),
    'true, false or a list of patterns such as "bash/command"',
  ),
};

const isFunctionList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'function');
/** An object with the required methods: a mistake is found here and not in the middle of a batch. */
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
  return (
    'tools' in value &&
    Array.isArray(value.tools) &&
    'revision' in value &&
    typeof value.revision === 'number'
  );
}

const isJournal = can(
  ...['accept', 'claim', 'note', 'finish', 'sync', 'call', 'find', 'batch', 'unfinished', 'notes', 'close'],
);
/** Its other fields are checked where it is normalized. */
const isJournalFile = (value: unknown): boolean =>
  isObject(value) &&
  !('accept' in Object(value)) &&
  ('path' in Object(value) || 'redactArguments' in Object(value));
const isPolicy = can('decide');
const MODES = ['disabled', 'parse_only', 'enabled'];

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
  mode: option(undefined, (value) => MODES.includes(value as string), `one of ${MODES.join(', ')}`),
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
  profile: option(undefined, (value) => PROFILES.includes(value as string), `one of ${PROFILES.join(', ')}`),
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
  logger: option(undefined, can('debug', 'info', 'warn', 'error'), 'a logger (debug, info, warn, error)'),
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
