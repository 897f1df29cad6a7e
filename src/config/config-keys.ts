import {
  BOOLEAN,
  choice,
  DIRECTORIES,
  NAMES,
  PATTERNS,
  SECONDS,
  type ValueKind,
  wholeNumber,
} from './value-kind.js';

export interface ConfigKey {
  readonly kind: ValueKind;
  /** As it would stand in the file; undefined: nothing is set. */
  readonly fallback: boolean | number | string | readonly string[] | undefined;
  /** Where it lands: a path into `Configuration`. */
  readonly option: string;
  /** For the documentation: what it decides. */
  readonly meaning: string;
}

const BYTES = wholeNumber(1, 'bytes');

/** Every key of `toolexec.toml`, once (D113, D116–D122). The loader, its schema and its documentation read this table. */
export const CONFIG_KEYS: Readonly<Record<string, ConfigKey>> = {
  'tools.mode': {
    kind: choice('disabled', 'parse_only', 'enabled'),
    fallback: 'enabled',
    option: 'executor.mode',
    meaning: 'Whether calls are executed, only listed (`parse_only`), or refused.',
  },
  'tools.allow_parallel': {
    kind: BOOLEAN,
    fallback: false,
    option: 'run.parallel',
    meaning: 'Calls whose effects do not conflict run side by side.',
  },
  'tools.max_tool_calls_per_batch': {
    kind: wholeNumber(1, 'calls'),
    fallback: 8,
    option: 'executor.limits.maxToolCallsPerBatch',
    meaning: 'Calls of one response; those beyond are answered `limit_exceeded`.',
  },
  'tools.max_tool_args_bytes': {
    kind: BYTES,
    fallback: 262_144,
    option: 'executor.limits.maxToolArgsBytes',
    meaning: 'Bytes of serialised arguments of one call.',
  },
  'tools.sandbox.allowed_roots': {
    kind: DIRECTORIES,
    fallback: undefined,
    option: 'executor.root',
    meaning:
      'Directories that tools may touch, relative to this file; `--root` replaces them. The first is the working directory.',
  },
  'tools.sandbox.denied_patterns': {
    kind: PATTERNS,
    fallback: [],
    option: 'executor.sandbox.deniedPatterns',
    meaning: 'Paths that tools may not touch, besides the built-in ones.',
  },
  'tools.sandbox.denied_write_patterns': {
    kind: PATTERNS,
    fallback: [],
    option: 'executor.sandbox.deniedWritePatterns',
    meaning: 'Paths that tools may read and not change.',
  },
  'tools.sandbox.allow_absolute': {
    kind: BOOLEAN,
    fallback: undefined,
    option: 'executor.sandbox.allowAbsolute',
    meaning: 'Accept absolute paths inside the roots. The command accepts them unless this says false.',
  },
  'tools.sandbox.include_default_denies': {
    kind: BOOLEAN,
    fallback: true,
    option: 'executor.sandbox.includeDefaultDenies',
    meaning: 'Keep the built-in denied patterns: keys, `.ssh`, `.gnupg`.',
  },
  'tools.timeouts.default_seconds': {
    kind: SECONDS,
    fallback: 30,
    option: 'executor.timeouts.defaultMs',
    meaning: 'For a call whose tool and class name no time.',
  },
  'tools.timeouts.file_operations_seconds': {
    kind: SECONDS,
    fallback: 30,
    option: 'executor.timeouts.fileOperationsMs',
    meaning: 'For tools that read and write files.',
  },
  'tools.timeouts.shell_commands_seconds': {
    kind: SECONDS,
    fallback: 300,
    option: 'executor.timeouts.shellCommandsMs',
    meaning: 'For commands.',
  },
  'tools.timeouts.external_tools_seconds': {
    kind: SECONDS,
    fallback: 300,
    option: 'executor.timeouts.externalToolsMs',
    meaning: 'For tools that are programs of their own.',
  },
  'tools.output.max_bytes': {
    kind: wholeNumber(0, 'bytes'),
    fallback: 102_400,
    option: 'executor.output.maxBytes',
    meaning: 'Bytes of one result, the notice of truncation included.',
  },
  'tools.environment.denylist': {
    kind: NAMES,
    fallback: [],
    option: 'executor.environment.denylist',
    meaning: 'Variables that commands do not see, besides the built-in ones; `*` stands for anything.',
  },
  'tools.environment.pass': {
    kind: NAMES,
    fallback: [],
    option: 'executor.environment.pass',
    meaning: 'Variables that commands see all the same.',
  },
  'tools.approval.enabled': {
    kind: BOOLEAN,
    fallback: true,
    option: 'executor.policy.enabled',
    meaning: 'False: no call is executed at all.',
  },
  'tools.approval.mode': {
    kind: choice('auto', 'prompt', 'deny'),
    fallback: 'prompt',
    option: 'executor.policy.mode',
    meaning: '`prompt` asks about side effects, `auto` does not, `deny` runs only what is on the allowlist.',
  },
  'tools.approval.allowlist': {
    kind: NAMES,
    fallback: ['read_file'],
    option: 'executor.policy.allowlist',
    meaning: 'Tools that run without the policy asking. Replaces the default.',
  },
  'tools.approval.denylist': {
    kind: NAMES,
    fallback: ['run_command'],
    option: 'executor.policy.denylist',
    meaning: 'Tools that never run. Replaces the default.',
  },
  'tools.approval.prompt_side_effects': {
    kind: BOOLEAN,
    fallback: true,
    option: 'executor.policy.promptSideEffects',
    meaning: 'In mode `prompt`: ask about calls with side effects.',
  },
  'tools.read_file.max_file_read_bytes': {
    kind: BYTES,
    fallback: 204_800,
    option: 'executor.limits.maxFileReadBytes',
    meaning: 'Bytes of a file that is read whole.',
  },
  'tools.read_file.max_scan_bytes': {
    kind: BYTES,
    fallback: 2_097_152,
    option: 'executor.limits.maxReadFileScanBytes',
    meaning: 'Bytes that a line range may scan.',
  },
};
