import type { ExecutorMode } from '../contract/executor.js';
import type { ToolDefinition } from '../contract/tool.js';
import type { PolicyOptions } from '../policy/policy-options.js';
import type { HardLinks } from '../sandbox/sandbox-options.js';

/** What a configuration file says, as options: only what it names is there. */
export interface Configuration {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions;
  /** For each run. */
  readonly run: { readonly parallel?: boolean };
  /** For a journal in a file: `createExecutor({ …, journal: { path, ...journal } })`. */
  readonly journal?: { readonly onLoss?: 'warn' | 'refuse' };
}

export interface ConfiguredOptions {
  readonly mode?: ExecutorMode;
  /** Absolute. */
  readonly root?: readonly string[];
  readonly policy?: PolicyOptions;
  readonly sandbox?: {
    readonly deniedPatterns?: readonly string[];
    readonly deniedWritePatterns?: readonly string[];
    readonly allowAbsolute?: boolean;
    readonly includeDefaultDenies?: boolean;
    readonly os?: 'off' | 'preferred' | 'required';
    readonly network?: boolean;
    readonly readable?: readonly string[];
    readonly hardLinks?: HardLinks;
  };
  readonly limits?: {
    readonly maxToolCallsPerBatch?: number;
    readonly maxToolIterationsPerUserTurn?: number;
    readonly maxToolArgsBytes?: number;
    readonly maxApplyPatchBytes?: number;
    readonly maxFileReadBytes?: number;
    readonly maxReadFileScanBytes?: number;
  };
  readonly commandLimits?: {
    readonly cpuSeconds?: number;
    readonly memoryMb?: number;
    readonly processes?: number;
    readonly fileSizeMb?: number;
  };
  /** Milliseconds. */
  readonly timeouts?: {
    readonly defaultMs?: number;
    readonly fileOperationsMs?: number;
    readonly shellCommandsMs?: number;
    readonly externalToolsMs?: number;
  };
  readonly output?: { readonly maxBytes?: number };
  /** What a model is shown in mode `parse_only`. */
  readonly definitions?: readonly ToolDefinition[];
  /** For `builtinTools`. */
  readonly builtins?: {
    readonly listDirectory?: {
      readonly maxEntries?: number;
      readonly maxDepth?: number;
      readonly includeHidden?: boolean;
      readonly includeFiles?: boolean;
      readonly includeDirs?: boolean;
      readonly includeSymlinks?: boolean;
      readonly includeOther?: boolean;
    };
  };
  readonly environment?: { readonly denylist?: readonly string[]; readonly pass?: readonly string[] };
}
