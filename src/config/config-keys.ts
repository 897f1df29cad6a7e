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
      '`contained`: commands run in the OS sandbox without network and without a question. They need approval when they have ended, if they changed files that run later or deleted something ([contained.md](contained.md)).',
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
    meaning: 'Calls of one response; further calls are answered `limit_exceeded`.',
    tighten: smaller(),
  }),
  'tools.max_tool_iterations_per_user_turn': setting('executor.limits', 'maxToolIterationsPerUserTurn', {
    meaning: 'How many rounds of calls and results a tool loop runs before the next message of the person.',
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
    meaning: 'Paths that tools may not touch, in addition to the built-in ones.',
    tighten: joining,
    isAdditive: true,
  }),
  'tools.sandbox.denied_write_patterns': setting('executor.sandbox', 'deniedWritePatterns', {
    kind: PATTERNS,
    meaning: 'Paths that tools may read but not change.',
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
      'Commands change nothing until they have ended and their changes were compared with the rules: `auto`, if this machine supports it; `required`, otherwise no command runs; `off`.',
    tighten: stricter('required', 'auto', 'off'),
  }),
  'tools.sandbox.max_transaction_mb': setting('executor.sandbox', 'maxTransactionMb', {
    meaning:
      'How much one command may change in a transaction; a command that changes more is ended, and none of its changes are kept.',
    tighten: smaller(),
  }),
  'tools.sandbox.on_timeout': setting('executor.sandbox', 'onTimeout', {
    meaning: 'What happens to the changes of a command that was stopped before its end.',
    tighten: stricter('discard', 'keep'),
  }),
  'tools.sandbox.on_conflict': setting('executor.sandbox', 'onConflict', {
    meaning:
      'What happens if other programs changed the same paths while a command ran: the command runs again, at most twice (`rerun`), it fails immediately (`fail`), or changes without a conflict are kept and the call still fails (`keep_rest`).',
    tighten: stricter('fail', 'rerun', 'keep_rest'),
  }),
  'tools.sandbox.expose_ports': setting('executor.sandbox', 'exposePorts', {
    meaning:
      'With the network off, `bash` may ask the person to let programs of this machine reach a port of its commands; the person is asked each time.',
    tighten: only(false),
  }),
  'tools.sandbox.external_tools': setting('executor.sandbox', 'externalTools', {
    meaning: 'Which external tools run in the command sandbox: those in untrusted directories, all, or none.',
    tighten: stricter('all', 'untrusted', 'off'),
  }),
  'tools.run_command.sandbox': setting('executor.sandbox', 'os', {
    meaning:
      'The OS sandbox (bubblewrap) around commands, including those of `bash`: `required`, otherwise no command runs; `preferred`, without it each command needs approval; `off`.',
    tighten: stricter('required', 'preferred', 'off'),
  }),
  'tools.run_command.network': setting('executor.sandbox', 'network', {
    meaning: 'Commands in the OS sandbox can reach the network.',
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
    meaning: 'For external tools.',
    tighten: smaller(),
  }),
  'tools.output.max_bytes': setting('executor.output', 'maxBytes', {
    meaning: 'Bytes of one result, including the notice of truncation.',
    tighten: smaller(),
  }),
  'tools.output.max_content_bytes': setting('executor.output', 'maxContentBytes', {
    meaning: 'Bytes of pictures, sounds and documents in one result; a larger block becomes a line of text.',
    tighten: smaller(),
  }),
  'tools.environment.denylist': setting('executor.environment', 'denylist', {
    kind: VARIABLES,
    meaning: 'Variables that commands do not see, in addition to the built-in ones; `*` stands for anything.',
    tighten: joining,
    isAdditive: true,
  }),
  'tools.environment.pass': setting('executor.environment', 'pass', {
    kind: VARIABLES,
    meaning: 'Exceptions: variables that commands see nevertheless.',
    tighten: removing,
  }),
  'tools.approval.enabled': setting('executor.policy', 'enabled', {
    meaning: 'False: no call is executed at all.',
    tighten: only(false),
  }),
  'tools.approval.mode': setting('executor.policy', 'mode', {
    meaning: '`prompt` asks about side effects, `auto` does not, `deny` runs only tools on the allowlist.',
    tighten: stricter('deny', 'prompt', 'auto'),
  }),
  'tools.approval.allowlist': {
    kind: TOOL_NAMES,
    fallback: ['read_file'],
    option: 'executor.policy.allowlist',
    meaning: 'Tools that run without a question from the policy. Replaces the default.',
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
      'Whether the origin of data matters, see provenance.md. `warn`, once text from outside was seen: asks if data of the workspace would leave, a command reaches the network, a file that runs later would be written, or a call has an argument from such text. `ask`: asks about every side effect once such text was seen, and about a call that changes something outside once a file was read.',
    tighten: stricter('ask', 'warn', 'off'),
  }),
  'tools.approval.later_code': {
    kind: PATTERNS,
    fallback: undefined,
    option: 'executor.policy.laterCode',
    meaning:
      "Paths that run later by themselves: a command's changes to them are asked about. `toolexec policy later-code` prints the table that this replaces.",
    tighten: addingTo(LATER_CODE_PATTERNS),
  },
  'tools.approval.rules': {
    kind: RULES,
    fallback: [],
    option: 'executor.policy.rules',
    meaning:
      'Rules about single calls, see policy.md. Rules of a named file and of your own file belong to the tier `user`, those of a project to the tier `project`.',
    tighten: onlyRefusing,
    isAdditive: true,
  },
  ...TOOL_KEYS,
  ...HOOK_KEYS,
  'journal.on_loss': setting('journal', 'onLoss', {
    meaning:
      'If the journal has lost records: `warn`, and calls that had run may run again; `refuse`, and no call runs.',
    tighten: stricter('refuse', 'warn'),
  }),
  'journal.redact': {
    kind: REDACTIONS,
    fallback: false,
    option: 'journal.redactArguments',
    meaning:
      'Arguments that the journal leaves out, along with texts that repeat their values: `true` for all, or patterns `TOOL/POINTER`, see journal-secrets.md.',
    tighten: addingRedactions,
  },
  ...FLEET_KEYS,
  'mcp.servers': {
    kind: MCP_SERVERS,
    fallback: undefined,
    option: 'mcp.servers',
    meaning:
      'Third-party MCP servers, by name, whose tools `toolexec mcp --gateway` serves as `NAME__tool`: `command` and `args`, or `url`; `env`, `cwd`, `headers`, `network` (default false), `trusted` (default false), `tools`, `timeout`.',
    tighten: never,
  },
  'chat.agents_file': {
    kind: BOOLEAN,
    fallback: false,
    option: 'chat.agentsFile',
    meaning:
      'Whether `toolexec chat` adds the `AGENTS.md` of the first root to its default system text. The model treats the text of that file as an instruction.',
    tighten: only(false),
  },
};
