import type { OptionsIn } from '../contract/settings.js';
import type { ToolDefinition } from '../contract/tool.js';
import type { HookOptions } from '../hooks/hook-options.js';
import type { PolicyOptions } from '../policy/rules/policy-options.js';
import type { McpServerSettings } from './mcp-servers.js';

/**
 * A configuration file as options. Only settings that the file contains are present. `SETTINGS` describes
 * those that programs can set too.
 */
export interface Configuration {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions;
  /** For each run. */
  readonly run: { readonly parallel?: boolean };
  /** For `discoverTools(directories, { …options })`. */
  readonly external?: OptionsIn<'external'> & {
    /** Absolute. */
    readonly directories?: readonly string[];
    readonly trusted?: readonly string[];
    readonly versions?: Readonly<Record<string, string>>;
    /** Milliseconds. */
    readonly timeouts?: Readonly<Record<string, number>>;
    readonly maxConcurrent?: number | Readonly<Record<string, number>>;
    /** A threshold of 0 means no breaker. */
    readonly breaker?: OptionsIn<'external.breaker'>;
    /** 0 processes: each call has its own process. */
    readonly warm?: OptionsIn<'external.warm'>;
  };
  /** For `toolexec mcp --gateway`, by name. */
  readonly mcp?: { readonly servers?: Readonly<Record<string, McpServerSettings>> };
  /** For `toolexec chat`. */
  readonly chat?: { readonly agentsFile?: boolean };
  /** For commands that work against a fleet. */
  readonly fleet?: FleetSettings;
  /** For a journal in a file: `createExecutor({ …, journal: { path, ...journal } })`. */
  readonly journal?: OptionsIn<'journal'> & { readonly redactArguments?: boolean | readonly string[] };
}

/** `[fleet]` */
export interface FleetSettings {
  /** For `postgresJournal`, like `tenant`. */
  readonly url?: string;
  readonly tenant?: string;
  /** For `createWorker`, like `leaseMs`. */
  readonly labels?: readonly string[];
  readonly leaseMs?: number;
  /** For `createFleetServer`. */
  readonly startDeadlineMs?: number;
  readonly objects?: ObjectSettings;
  readonly quotas?: {
    readonly open?: number;
    readonly running?: number;
    readonly tools?: Readonly<Record<string, number>>;
    readonly labels?: Readonly<Record<string, number>>;
  };
}

/** `[fleet.objects]`: for `s3Objects`. */
export interface ObjectSettings {
  readonly endpoint?: string;
  readonly bucket?: string;
  readonly region?: string;
  /** Names of environment variables. */
  readonly accessKeyEnv?: string;
  readonly secretKeyEnv?: string;
}

export interface ConfiguredOptions extends OptionsIn<'executor'> {
  /** Absolute. */
  readonly root?: readonly string[];
  readonly policy?: PolicyOptions;
  readonly sandbox?: OptionsIn<'executor.sandbox'>;
  readonly limits?: OptionsIn<'executor.limits'>;
  readonly commandLimits?: OptionsIn<'executor.commandLimits'>;
  readonly timeouts?: OptionsIn<'executor.timeouts'>;
  readonly output?: OptionsIn<'executor.output'>;
  /** The definitions for a model in mode `parse_only`. */
  readonly definitions?: readonly ToolDefinition[];
  readonly hooks?: HookOptions;
  /** For `builtinTools`. */
  readonly builtins?: {
    readonly bash?: OptionsIn<'executor.builtins.bash'>;
    readonly listDirectory?: OptionsIn<'executor.builtins.listDirectory'>;
    readonly webFetch?: OptionsIn<'executor.builtins.webFetch'>;
    readonly webSearch?: OptionsIn<'executor.builtins.webSearch'> & {
      readonly url?: string;
      readonly apiKeyEnv?: string;
    };
  };
  readonly environment?: OptionsIn<'executor.environment'>;
}
