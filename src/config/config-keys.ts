import { LATER_CODE_PATTERNS } from '../policy/later-code/later-code.js';
import { type ConfigKey, setting } from './config-key.js';
import { FLEET_KEYS } from './fleet-keys.js';
import { HOOK_KEYS } from './hook-keys.js';
import { MCP_SERVERS } from './mcp-servers.js';

import { DEFINITIONS, RULES } from './table-kinds.js';
import {
  adding,
  addingRedactions,
  addingTo,
  joining,
  never,
  only,
  onlyRefusing,
  removing,
  smaller,
  smallerOrAny,
  stricter,
  tightenRoots,
} from './tighten.js';
import { TOOL_KEYS } from './tool-keys.js';
import { BOOLEAN, DIRECTORIES, PATHS, PATTERNS, REDACTIONS, TOOL_NAMES, VARIABLES } from './value-kind.js';

/**
 * Every key of `toolexec.toml` (D113–D123). The loader, the layers, the schema and the documentation use this
 * table.
 */
export const CONFIG_KEYS: Readonly<Record<string, ConfigKey>> = {
  'tools.mode': setting('executor', 'mode', {
    meaning: 'Whether calls are executed, only listed (`parse_only`), or refused.',
    tighten: stricter('disabled', 'parse_only', 'enabled'),
  }),
  'tools.profile': setting('executor', 'profile', {
    meaning:
      '`contained`: commands run in the OS sandbox without network, unasked, and are asked about when they have ended, where they changed what runs later or deleted something ([contained.md](contained.md)).',
    tighten: never,
  }),
  'tools.allow_parallel': {
    kind: BOOLEAN,
    fallback: false,
    option: 'run.parallel',
    meaning: 'Calls whose effects do not conflict run side by side.',
    tighten: only(false),
  },
  'tools.max_tool_calls_per_batch': setting('executor.limits', 'maxToolCallsPerBatch', {
    meaning: 'Calls of one response; those beyond are answered `limit_exceeded`.',
    tighten: smaller(),
  }),
  'tools.max_tool_iterations_per_user_turn': setting('executor.limits', 'maxToolIterationsPerUserTurn', {
    meaning: 'Rounds of calls and results that a tool loop goes before the person has the word again.',
    tighten: smaller(),
  }),
  'tools.max_tool_args_bytes': setting('executor.limits', 'maxToolArgsBytes', {
    meaning: 'Bytes of serialised arguments of one call.',
    tighten: smaller(),
  }),
  'tools.definitions': {
    kind: DEFINITIONS,
    fallback: [],
    option: 'executor.definitions',
    meaning:
      'Tools that a model is shown in mode `parse_only`, and that another program answers: `[[tools.definitions]]`.',
    tighten: never,
  },
  'tools.sandbox.allowed_roots': {
    kind: DIRECTORIES,
    fallback: undefined,
    option: 'executor.root',
    meaning:
      'Directories that tools may touch, relative to this file; `--root` replaces them. The first is the working directory.',
    tighten: tightenRoots,
  },
  'tools.sandbox.denied_patterns': setting('executor.sandbox', 'deniedPatterns', {
    kind: PATTERNS,
    meaning: 'Paths that tools may not touch, besides the built-in ones.',
    tighten: joining,
    isAdditive: true,
  }),
  'tools.sandbox.denied_write_patterns': setting('executor.sandbox', 'deniedWritePatterns', {
    kind: PATTERNS,
    meaning: 'Paths that tools may read and not change.',
    tighten: joining,
    isAdditive: true,
  }),
  'tools.sandbox.allow_absolute': setting('executor.sandbox', 'allowAbsolute', {
    fallback: undefined,
    meaning: 'Accept absolute paths inside the roots. The command accepts them unless this says false.',
    tighten: only(false),
  }),
  'tools.sandbox.include_default_denies': setting('executor.sandbox', 'includeDefaultDenies', {
    meaning: 'Keep the built-in denied patterns: keys, `.ssh`, `.gnupg`.',
    tighten: only(true),
  }),
  'tools.sandbox.hard_links': setting('executor.sandbox', 'hardLinks', {
    meaning:
      'Regular files with several names, some of which may lie outside: `refuse` neither reads nor changes them.',
    tighten: stricter('refuse', 'allow'),
  }),
  'tools.sandbox.transactions': setting('executor.sandbox', 'transactions', {
    meaning:
      'Commands change nothing before they have ended and what they changed was compared with the rules: `auto`, where this machine can; `required`, or none runs; `off`.',
    tighten: stricter('required', 'auto', 'off'),
  }),
  'tools.sandbox.max_transaction_mb': setting('executor.sandbox', 'maxTransactionMb', {
    meaning:
      'What one command may change in a transaction; one that changes more is ended, and nothing of it is kept.',
    tighten: smaller(),
  }),
  'tools.sandbox.on_timeout': setting('executor.sandbox', 'onTimeout', {
    meaning: 'What becomes of what a command has changed that was stopped before its end.',
    tighten: stricter('discard', 'keep'),
  }),
  'tools.sandbox.on_conflict': setting('executor.sandbox', 'onConflict', {
    meaning:
      'What happens where others changed the same things while a command ran: it is run again, at most twice (`rerun`), fails at once (`fail`), or what is in no conflict is kept and the call fails all the same (`keep_rest`).',
    tighten: stricter('fail', 'rerun', 'keep_rest'),
  }),
  'tools.sandbox.expose_ports': setting('executor.sandbox', 'exposePorts', {
    meaning:
      'With the network off, `bash` may ask the person to let programs of this machine reach a port of its commands, each time.',
    tighten: only(false),
  }),
  'tools.sandbox.external_tools': setting('executor.sandbox', 'externalTools', {
    meaning:
      'Which programs that are tools run in the sandbox of commands: those of directories that are not trusted, all, or none.',
    tighten: stricter('all', 'untrusted', 'off'),
  }),
  'tools.run_command.sandbox': setting('executor.sandbox', 'os', {
    meaning:
      'The OS sandbox (bubblewrap) around commands, also those of `bash`: `required`, or none runs; `preferred`, each is asked for where there is none; `off`.',
    tighten: stricter('required', 'preferred', 'off'),
  }),
  'tools.run_command.network': setting('executor.sandbox', 'network', {
    meaning: 'Commands in the OS sandbox reach the network.',
    tighten: only(false),
  }),
  'tools.run_command.readable_paths': setting('executor.sandbox', 'readable', {
    kind: PATHS,
    meaning:
      'Directories outside the roots that commands in the OS sandbox may read, relative to this file: toolchains, caches.',
    tighten: never,
  }),
  'tools.run_command.limits.cpu_seconds': setting('executor.commandLimits', 'cpuSeconds', {
    meaning: 'Processor time of each process of a command.',
    tighten: smallerOrAny,
  }),
  'tools.run_command.limits.memory_mb': setting('executor.commandLimits', 'memoryMb', {
    meaning: 'Private memory of each process of a command.',
    tighten: smallerOrAny,
  }),
  'tools.run_command.limits.processes': setting('executor.commandLimits', 'processes', {
    meaning: 'Processes of one command that run at a time.',
    tighten: smaller(),
  }),
  'tools.run_command.limits.file_size_mb': setting('executor.commandLimits', 'fileSizeMb', {
    meaning: 'Size of each file that a command writes.',
    tighten: smallerOrAny,
  }),
  'tools.timeouts.default_seconds': setting('executor.timeouts', 'defaultMs', {
    meaning: 'For a call whose tool and class name no time.',
    tighten: smaller(),
  }),
  'tools.timeouts.file_operations_seconds': setting('executor.timeouts', 'fileOperationsMs', {
    meaning: 'For tools that read and write files.',
    tighten: smaller(),
  }),
  'tools.timeouts.shell_commands_seconds': setting('executor.timeouts', 'shellCommandsMs', {
    meaning: 'For commands.',
    // An explicit class timeout overrides bash's own default of 120 s.
    tighten: smaller(120),
  }),
  'tools.timeouts.external_tools_seconds': setting('executor.timeouts', 'externalToolsMs', {
    meaning: 'For tools that are programs of their own.',
    tighten: smaller(),
  }),
  'tools.output.max_bytes': setting('executor.output', 'maxBytes', {
    meaning: 'Bytes of one result, the notice of truncation included.',
    tighten: smaller(),
  }),
  'tools.output.max_content_bytes': setting('executor.output', 'maxContentBytes', {
    meaning: 'Bytes of pictures, sounds and documents in one result; what is larger becomes a line of text.',
    tighten: smaller(),
  }),
  'tools.environment.denylist': setting('executor.environment', 'denylist', {
    kind: VARIABLES,
    meaning: 'Variables that commands do not see, besides the built-in ones; `*` stands for anything.',
    tighten: joining,
    isAdditive: true,
  }),
  'tools.environment.pass': setting('executor.environment', 'pass', {
    kind: VARIABLES,
    meaning: 'Variables that commands see all the same.',
    tighten: removing,
  }),
  'tools.approval.enabled': setting('executor.policy', 'enabled', {
    meaning: 'False: no call is executed at all.',
    tighten: only(false),
  }),
  'tools.approval.mode': setting('executor.policy', 'mode', {
    meaning: '`prompt` asks about side effects, `auto` does not, `deny` runs only what is on the allowlist.',
    tighten: stricter('deny', 'prompt', 'auto'),
  }),
  'tools.approval.allowlist': {
    kind: TOOL_NAMES,
    fallback: ['read_file'],
    option: 'executor.policy.allowlist',
    meaning: 'Tools that run without the policy asking. Replaces the default.',
    tighten: removing,
  },
  'tools.approval.denylist': {
    kind: TOOL_NAMES,
    fallback: ['run_command'],
    option: 'executor.policy.denylist',
    meaning: 'Tools that never run. Replaces the default.',
    tighten: adding,
  },
  'tools.approval.prompt_side_effects': setting('executor.policy', 'promptSideEffects', {
    meaning: 'In mode `prompt`: ask about calls with side effects.',
    tighten: only(true),
  }),
  'tools.approval.provenance': setting('executor.policy', 'provenance', {
    meaning:
      'Whether it counts where data came from, see provenance.md: `warn` asks where data of the workspace would leave, a command reaches the network, what runs later would be written, or a call does as text from outside says; `ask` asks about every side effect once such text was seen, and about a call that changes something outside once a file was read.',
    tighten: stricter('ask', 'warn', 'off'),
  }),
  'tools.approval.later_code': {
    kind: PATTERNS,
    fallback: undefined,
    option: 'executor.policy.laterCode',
    meaning:
      'Paths that run later by themselves, so that changes of them by a command are asked about; `toolexec policy later-code` prints the table that this replaces.',
    tighten: addingTo(LATER_CODE_PATTERNS),
  },
  'tools.approval.rules': {
    kind: RULES,
    fallback: [],
    option: 'executor.policy.rules',
    meaning:
      'Rules about single calls, see policy.md. Those of a file that is named and of your own are of the tier `user`, those of a project of the tier `project`.',
    tighten: onlyRefusing,
    isAdditive: true,
  },
  ...TOOL_KEYS,
  ...HOOK_KEYS,
  'journal.on_loss': setting('journal', 'onLoss', {
    meaning:
      'When the journal does not hold what was recorded in it: `warn`, and calls that had run may run again; `refuse`, and no call runs.',
    tighten: stricter('refuse', 'warn'),
  }),
  'journal.redact': {
    kind: REDACTIONS,
    fallback: false,
    option: 'journal.redactArguments',
    meaning:
      'Arguments that the journal leaves out, with what repeats their values: `true` for all, or patterns `TOOL/POINTER`, see journal-secrets.md.',
    tighten: addingRedactions,
  },
  ...FLEET_KEYS,
  'mcp.servers': {
    kind: MCP_SERVERS,
    fallback: undefined,
    option: 'mcp.servers',
    meaning:
      "Other people's MCP servers, by name, whose tools `toolexec mcp --gateway` serves as `NAME__tool`: `command` and `args`, or `url`; `env`, `cwd`, `headers`, `network` (default false), `trusted` (default false), `tools`, `timeout`.",
    tighten: never,
  },
  'chat.agents_file': {
    kind: BOOLEAN,
    fallback: false,
    option: 'chat.agentsFile',
    meaning:
      'Whether `toolexec chat` adds the `AGENTS.md` of the first root to its default system text. What a project says there, the model takes for an instruction.',
    tighten: only(false),
  },
};
