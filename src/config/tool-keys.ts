import { CALLS_AT_A_TIME, TOOL_SECONDS, VERSION_RANGES } from './by-tool.js';
import { type ConfigKey, setting } from './config-key.js';
import { never, only, smaller, stricter } from './tighten.js';
import { HOSTS, HTTP_ADDRESS, PROGRAM_DIRECTORIES, VARIABLE, wholeNumber } from './value-kind.js';

/** The keys of single tools and of external tools: a part of `CONFIG_KEYS`. */
export const TOOL_KEYS: Readonly<Record<string, ConfigKey>> = {
  'tools.bash.approval': setting('executor.builtins.bash', 'approval', {
    meaning:
      'When `bash` asks. `after`: when a command has ended, with its changes shown and nothing committed yet. Such a command runs only in the OS sandbox, with the network off.',
    tighten: stricter('before', 'after'),
  }),
  'tools.read_file.max_file_read_bytes': setting('executor.limits', 'maxFileReadBytes', {
    meaning: 'Bytes of a file that is read whole.',
    tighten: smaller(),
  }),
  'tools.read_file.max_scan_bytes': setting('executor.limits', 'maxReadFileScanBytes', {
    meaning: 'Bytes that a line range may scan.',
    tighten: smaller(),
  }),
  'tools.apply_patch.max_patch_bytes': setting('executor.limits', 'maxApplyPatchBytes', {
    meaning: 'Bytes of one patch.',
    tighten: smaller(),
  }),
  'tools.list_directory.max_entries': setting('executor.builtins.listDirectory', 'maxEntries', {
    meaning: 'Entries of one listing: the default, and the maximum for a call.',
    tighten: smaller(),
  }),
  'tools.list_directory.max_depth': setting('executor.builtins.listDirectory', 'maxDepth', {
    meaning: 'Levels of a recursive listing: the default, and the maximum for a call.',
    tighten: smaller(),
  }),
  'tools.list_directory.include_hidden_default': setting('executor.builtins.listDirectory', 'includeHidden', {
    meaning: 'Names with a leading dot are listed unless a call says otherwise.',
    tighten: only(false),
  }),
  'tools.list_directory.include_files_default': setting('executor.builtins.listDirectory', 'includeFiles', {
    meaning: 'Files are listed unless a call says otherwise.',
    tighten: only(false),
  }),
  'tools.list_directory.include_dirs_default': setting('executor.builtins.listDirectory', 'includeDirs', {
    meaning: 'Directories are listed unless a call says otherwise.',
    tighten: only(false),
  }),
  'tools.list_directory.include_symlinks_default': setting(
    'executor.builtins.listDirectory',
    'includeSymlinks',
    {
      meaning: 'Symbolic links are listed unless a call says otherwise.',
      tighten: only(false),
    },
  ),
  'tools.list_directory.include_other_default': setting('executor.builtins.listDirectory', 'includeOther', {
    meaning: 'Sockets, pipes and devices are listed unless a call says otherwise.',
    tighten: only(false),
  }),
  'tools.web_fetch.respect_robots': setting('executor.builtins.webFetch', 'respectRobots', {
    meaning: "Pages that a site's robots.txt forbids to programs are not fetched.",
    tighten: only(true),
  }),
  'tools.web_fetch.max_bytes': setting('executor.builtins.webFetch', 'maxBytes', {
    meaning: 'Bytes of one page, decompressed; a larger one is not fetched.',
    tighten: smaller(),
  }),
  'tools.web_fetch.timeout': setting('executor.builtins.webFetch', 'timeoutMs', {
    meaning: "For one page, including its site's robots.txt.",
    tighten: smaller(),
  }),
  'tools.web_fetch.allow_private': setting('executor.builtins.webFetch', 'allowPrivate', {
    kind: HOSTS,
    meaning:
      'Hosts that may be fetched although their addresses are not public: `127.0.0.1:8080`, `*.corp.example`.',
    tighten: never,
  }),
  'tools.web_search.provider': setting('executor.builtins.webSearch', 'provider', {
    meaning: 'The service that searches the web.',
    tighten: never,
  }),
  'tools.web_search.url': {
    kind: HTTP_ADDRESS,
    fallback: undefined,
    option: 'executor.builtins.webSearch.url',
    meaning: 'The address of that service, if not its own; required for `searxng`.',
    tighten: never,
  },
  'tools.web_search.api_key_env': {
    kind: VARIABLE,
    fallback: undefined,
    option: 'executor.builtins.webSearch.apiKeyEnv',
    meaning: 'The environment variable that contains the key of the service; required for `brave`.',
    tighten: never,
  },
  'tools.external.directories': {
    kind: PROGRAM_DIRECTORIES,
    fallback: [],
    option: 'external.directories',
    meaning:
      'Directories whose executable files are tools, relative to this file; `~` is your home. See external-tools.md.',
    tighten: never,
  },
  'tools.external.trusted_directories': {
    kind: PROGRAM_DIRECTORIES,
    fallback: [],
    option: 'external.trusted',
    meaning: "Those of the directories whose tools' declared effects are believed.",
    tighten: never,
  },
  'tools.external.watch': setting('external', 'watch', {
    meaning: 'Read the directories again when something changes, for commands that run for a long time.',
    tighten: only(false),
  }),
  'tools.external.max_output_bytes': setting('external', 'maxOutputBytes', {
    meaning: 'Bytes that a tool may write for one call; one that writes more is ended.',
    tighten: smaller(),
  }),
  'tools.external.versions': {
    kind: VERSION_RANGES,
    fallback: undefined,
    option: 'external.versions',
    meaning: 'By tool, the range of its version (`slug = "^1.2"`); other versions cannot be called.',
    tighten: never,
  },
  'tools.external.timeouts': {
    kind: TOOL_SECONDS,
    fallback: undefined,
    option: 'external.timeouts',
    meaning: 'By tool, the time limit of a call in seconds, overriding its own (`slug = 20`).',
    tighten: never,
  },
  'tools.external.max_concurrent': {
    kind: CALLS_AT_A_TIME,
    fallback: undefined,
    option: 'external.maxConcurrent',
    meaning: 'Calls of a tool that run at the same time: one number, or a number by tool. Others wait.',
    tighten: never,
  },
  'tools.external.breaker.threshold': setting('external.breaker', 'threshold', {
    kind: wholeNumber(0, 'failures'),
    meaning: 'The number of consecutive failures after which a tool is not called for a while. 0: never.',
    tighten: never,
  }),
  'tools.external.breaker.cooldown_seconds': setting('external.breaker', 'cooldownMs', {
    meaning: 'For how long; then one call is let through as a test.',
    tighten: never,
  }),
  'tools.external.warm.processes': setting('external.warm', 'processes', {
    kind: wholeNumber(0, 'processes'),
    meaning:
      'Processes of one tool that serves many calls; further calls wait. 0: each call has its own process.',
    tighten: never,
  }),
  'tools.external.warm.max_calls': setting('external.warm', 'maxCalls', {
    meaning: 'Calls of one process; then a new one takes its place.',
    tighten: never,
  }),
  'tools.external.warm.idle_seconds': setting('external.warm', 'idleMs', {
    meaning: 'A process without a call for this long is ended.',
    tighten: never,
  }),
  'tools.external.warm.check_after_seconds': setting('external.warm', 'checkAfterMs', {
    meaning: 'After a pause of this length a process must answer a ping before it gets a call.',
    tighten: never,
  }),
  'tools.external.warm.start_seconds': setting('external.warm', 'startMs', {
    meaning: 'How long a new process may take to answer its first ping.',
    tighten: never,
  }),
};
