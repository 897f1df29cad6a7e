import { OUTPUT_LIMITS } from './output-limits.js';

/**
 * The options that programs and configuration files have in common: what each takes, and its default. The types of the
 * options, their checks, and the type, default and schema of the keys of `toolexec.toml` follow from this table. The names
 * of the sections are paths into `Configuration`.
 */
export const SETTINGS = {
  executor: {
    mode: { takes: 'choice', of: ['disabled', 'parse_only', 'enabled'], fallback: 'enabled' },
    profile: { takes: 'choice', of: ['none', 'contained'], fallback: 'none' },
  },
  'executor.policy': {
    enabled: { takes: 'truth', fallback: true },
    mode: { takes: 'choice', of: ['auto', 'prompt', 'deny'], fallback: 'prompt' },
    promptSideEffects: { takes: 'truth', fallback: true },
    provenance: { takes: 'choice', of: ['off', 'warn', 'ask'], fallback: 'warn' },
  },
  /** Limits on accepted input (D015 to D019). */
  'executor.limits': {
    /** Default 8. */
    maxToolCallsPerBatch: { takes: 'whole', least: 1, counts: 'calls', fallback: 8 },
    /** How many batches a tool loop runs in one turn of the person; default 4. */
    maxToolIterationsPerUserTurn: { takes: 'whole', least: 1, counts: 'rounds', fallback: 4 },
    /** Bytes of serialized arguments; default 262144. */
    maxToolArgsBytes: { takes: 'whole', least: 1, unit: 'bytes', fallback: 262_144 },
    /** Bytes of one patch; default 524288. */
    maxApplyPatchBytes: { takes: 'whole', least: 1, unit: 'bytes', fallback: 524_288 },
    /** Bytes of an unsliced read; default 204800. */
    maxFileReadBytes: { takes: 'whole', least: 1, unit: 'bytes', fallback: 204_800 },
    /** Bytes that may be scanned to find a range of lines; default 2097152. */
    maxReadFileScanBytes: { takes: 'whole', least: 1, unit: 'bytes', fallback: 2_097_152 },
  },
  /** Milliseconds (D117). */
  'executor.timeouts': {
    /** Default 30000. */
    defaultMs: { takes: 'time', fallback: 30_000 },
    /** Default 30000. */
    fileOperationsMs: { takes: 'time', fallback: 30_000 },
    /** Default 300000. */
    shellCommandsMs: { takes: 'time', fallback: 300_000 },
    /** Default 300000. */
    externalToolsMs: { takes: 'time', fallback: 300_000 },
  },
  'executor.sandbox': {
    deniedPatterns: { takes: 'texts', of: 'patterns', fallback: [] },
    deniedWritePatterns: { takes: 'texts', of: 'patterns', fallback: [] },
    /** Accept absolute paths inside the roots; default false. */
    allowAbsolute: { takes: 'truth', fallback: false },
    includeDefaultDenies: { takes: 'truth', fallback: true },
    /**
     * The sandbox of the operating system around commands (bubblewrap). `required`: without it no command runs.
     * `preferred` (default): without it every command needs approval. `off`: not used.
     */
    os: { takes: 'choice', of: ['off', 'preferred', 'required'], fallback: 'preferred' },
    /**
     * Which external tools also run in it, with the roots, network and `readable` of commands: those from
     * directories that are not trusted, all, or none (default).
     */
    externalTools: { takes: 'choice', of: ['off', 'untrusted', 'all'], fallback: 'off' },
    /** Whether commands inside it can reach the network; default false. */
    network: { takes: 'truth', fallback: false },
    /** Directories outside the roots that commands inside it may read, such as toolchains. Default: none. */
    readable: { takes: 'texts', of: 'directories', fallback: [] },
    /** Regular files with several names, in roots without their own setting: default `allow`. */
    hardLinks: { takes: 'choice', of: ['allow', 'refuse'], fallback: 'allow' },
    /**
     * Commands as transactions: their changes are compared with the rules and committed when they have ended.
     * `auto` (default): where this machine can. `required`: otherwise no command runs. `off`: never.
     */
    transactions: { takes: 'choice', of: ['required', 'auto', 'off'], fallback: 'auto' },
    /** Megabytes that one command may change; default 2048. */
    maxTransactionMb: { takes: 'whole', least: 1, unit: 'megabytes', fallback: 2048 },
    /** What happens to the changes of a command that was stopped before its end: default `discard`. */
    onTimeout: { takes: 'choice', of: ['discard', 'keep'], fallback: 'discard' },
    /**
     * What happens if another program has changed the same files while a command ran. `rerun` (default): the command,
     * which has had no effect, runs again on the current files, at most twice, and then fails with `conflict`;
     * not with the network on. `fail`: it fails at once. `keep_rest`: changes without a conflict are committed,
     * and the call still fails.
     */
    onConflict: { takes: 'choice', of: ['rerun', 'fail', 'keep_rest'], fallback: 'rerun' },
    /**
     * With the network off, whether `bash` may ask the person to let programs of this machine reach a port of
     * its commands; default false.
     */
    exposePorts: { takes: 'truth', fallback: false },
  },
  /** What a command may use. If it hits a limit, the error has `details.limit`. If absent: not limited. */
  'executor.commandLimits': {
    /**
     * CPU time of each process, which is then ended by SIGXCPU. Unlimited by default, because builds may take
     * long.
     */
    cpuSeconds: { takes: 'whole', least: 1, unit: 'seconds', fallback: undefined },
    /** Private memory of each process, as RLIMIT_DATA counts it. Unlimited by default. */
    memoryMb: { takes: 'whole', least: 1, unit: 'megabytes', fallback: undefined },
    /** Processes at a time, including the shell; default 4096. With more, the command is ended. */
    processes: { takes: 'whole', least: 1, unit: 'processes', fallback: 4096 },
    /** Size of each written file; then SIGXFSZ. Unlimited by default. */
    fileSizeMb: { takes: 'whole', least: 1, unit: 'megabytes', fallback: undefined },
  },
  'executor.output': {
    /** Bytes of the text of a result; default 102400. */
    maxBytes: { takes: 'whole', least: 0, unit: 'bytes', fallback: OUTPUT_LIMITS.resultBytes },
    /** Bytes of pictures, sounds and documents in a result; default 20971520. A larger block becomes a text. */
    maxContentBytes: { takes: 'whole', least: 0, unit: 'bytes', fallback: OUTPUT_LIMITS.contentBytes },
  },
  /** Calls that workers of a fleet run. */
  'executor.fleet': {
    /** `here` (default): this process runs its calls. `anywhere`: it plans and approves them, and a worker runs them. */
    run: { takes: 'choice', of: ['here', 'anywhere'], fallback: 'here' },
    /** Only workers that offer all of them run the calls. Default: none. */
    labels: { takes: 'texts', of: 'labels', fallback: [] },
    /** How long a call may wait for a worker, in milliseconds; then it is `expired`. Default: as long as it takes. */
    startDeadlineMs: { takes: 'whole', least: 1, unit: 'milliseconds', fallback: undefined },
    /** Calls with a higher number start first; default 0. */
    priority: { takes: 'whole', least: 0, fallback: 0 },
  },
  'executor.environment': {
    /** Variables that commands do not get, besides the built-in ones. */
    denylist: { takes: 'texts', of: 'names', fallback: [] },
    /** Variables that commands get although a rule removes them. */
    pass: { takes: 'texts', of: 'names', fallback: [] },
  },
  'executor.builtins.bash': {
    /**
     * When the person is asked. `after`: when the command has ended and nothing is committed yet. Default
     * `before`.
     */
    approval: { takes: 'choice', of: ['before', 'after'], fallback: 'before' },
  },
  'executor.builtins.listDirectory': {
    /** Default and maximum; 200. */
    maxEntries: { takes: 'whole', least: 1, counts: 'entries', fallback: 200 },
    /** Maximum, and default for a recursive listing; 4. */
    maxDepth: { takes: 'whole', least: 1, counts: 'levels', fallback: 4 },
    includeHidden: { takes: 'truth', fallback: false },
    includeFiles: { takes: 'truth', fallback: true },
    includeDirs: { takes: 'truth', fallback: true },
    includeSymlinks: { takes: 'truth', fallback: true },
    includeOther: { takes: 'truth', fallback: false },
  },
  'executor.builtins.webFetch': {
    /** Respect the site's robots.txt; default true. */
    respectRobots: { takes: 'truth', fallback: true },
    /** The largest page; default 1048576. */
    maxBytes: { takes: 'whole', least: 1, unit: 'bytes', fallback: 1_048_576 },
    /** For a whole call; default 30000. */
    timeoutMs: { takes: 'time', fallback: 30_000 },
    /** Hosts that may be fetched although their addresses are not public: `127.0.0.1:8080`, `*.corp.example`. Default: none. */
    allowPrivate: { takes: 'texts', of: 'hosts', fallback: [] },
  },
  'executor.builtins.webSearch': {
    /** Default `duckduckgo`. */
    provider: { takes: 'choice', of: ['duckduckgo', 'searxng', 'brave'], fallback: 'duckduckgo' },
  },
  external: {
    /** Watches the directories and refreshes after changes. Default false. */
    watch: { takes: 'truth', fallback: false },
    /** Maximum size of one result; a tool that writes more is ended. Default 16777216. */
    maxOutputBytes: { takes: 'whole', least: 1, unit: 'bytes', fallback: 16_777_216 },
  },
  'external.breaker': {
    /** Consecutive failures; default 5. */
    threshold: { takes: 'whole', least: 1, counts: 'failures', fallback: 5 },
    /** How long the tool is then left alone; default 30000. */
    cooldownMs: { takes: 'time', fallback: 30_000 },
  },
  'external.warm': {
    /** Processes of one tool at a time; default 4. Further calls wait. */
    processes: { takes: 'whole', least: 1, counts: 'processes', fallback: 4 },
    /**
     * A process is replaced after this many calls; default 1000. From ten on, the successor starts when a tenth
     * is left, and the old process continues until it is ready.
     */
    maxCalls: { takes: 'whole', least: 1, counts: 'calls', fallback: 1_000 },
    /** A process without a call for this long is ended; default 60000. */
    idleMs: { takes: 'time', fallback: 60_000 },
    /** After an idle time of this length, a process must answer a ping before the next call; default 1000. */
    checkAfterMs: { takes: 'time', least: 0, fallback: 1_000 },
    /** Time limit for a process's first answer to a ping; default 10000. */
    startMs: { takes: 'time', fallback: 10_000 },
  },
  journal: {
    /**
     * What happens if the file lacks records that were once in it. `warn` (default): it is logged, and calls
     * that had run may run again. `refuse`: nothing runs (`journal_unavailable`).
     */
    onLoss: { takes: 'choice', of: ['warn', 'refuse'], fallback: 'warn' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>;

/** The kind of value of an option, and its default. */
export type Setting =
  | {
      readonly takes: 'whole';
      readonly least: number;
      /** A measure, for messages: `a whole number of bytes from 1`. */
      readonly unit?: string;
      /** The things that the name of the option counts: messages need not repeat them. */
      readonly counts?: string;
      readonly fallback: number | undefined;
    }
  /** Milliseconds as an option, seconds in a file. */
  | { readonly takes: 'time'; readonly least?: 0; readonly fallback: number }
  | { readonly takes: 'truth'; readonly fallback: boolean }
  | { readonly takes: 'choice'; readonly of: readonly string[]; readonly fallback: string }
  | { readonly takes: 'texts'; readonly of: string; readonly fallback: readonly string[] };

export type SettingSection = keyof typeof SETTINGS;

type ValueOf<S> = S extends { readonly takes: 'whole' | 'time' }
  ? number
  : S extends { readonly takes: 'truth' }
    ? boolean
    : S extends { readonly takes: 'choice'; readonly of: readonly (infer Choice)[] }
      ? Choice
      : readonly string[];

/** The options of a section. */
export type OptionsIn<Section extends SettingSection> = {
  readonly [Name in keyof (typeof SETTINGS)[Section]]?: ValueOf<(typeof SETTINGS)[Section][Name]>;
};
