import type { DefineCommand, RunPlain } from './cli-context.js';

/** A command's name and line of help. Its implementation is loaded when it is used. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  /** Left out of help and completions. */
  readonly hidden?: boolean;
  readonly load: () => Promise<{ readonly define: DefineCommand; readonly runPlain?: RunPlain }>;
  /** Has `runPlain`. */
  readonly isPlain?: boolean;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  /** Example lines for the help. */
  readonly examples: readonly string[];
  readonly commands: readonly CommandRow[];
  /** The action of the command without a subcommand. If absent: none. */
  readonly load?: CommandRow['load'];
}

const undo: CommandRow = {
  name: 'undo',
  summary: 'restore the files that a call changed',
  load: () => import('./commands/undo.js'),
};

const tools: CommandGroup = {
  name: 'tools',
  summary: 'list the tools, and show their descriptions for models',
  examples: [
    'toolexec tools list',
    'toolexec tools show bash',
    'toolexec tools schema --for anthropic > tools.json',
    'toolexec tools init ./tools --lang python',
  ],
  commands: [
    {
      name: 'list',
      summary: 'every tool, and whether its calls run, ask or are refused',
      load: () => import('./commands/tools/list.js'),
    },
    {
      name: 'show',
      summary: 'one tool: its arguments, its permission, its time limit',
      load: () => import('./commands/tools/show.js'),
    },
    {
      name: 'schema',
      summary: 'the tools of a request, in the format of a provider',
      load: () => import('./commands/tools/schema.js'),
    },
    {
      name: 'scan',
      summary: 'which programs in a directory can be tools',
      load: () => import('./commands/tools/scan.js'),
    },
    {
      name: 'approve',
      summary: 'accept changed programs',
      load: () => import('./commands/tools/approve.js'),
    },
    {
      name: 'init',
      summary: 'write a program that is a tool, and its test, to start from',
      load: () => import('./commands/tools/init.js'),
    },
    {
      name: 'check',
      summary: 'run a program through the situations of real calls, and report how it behaves',
      load: () => import('./commands/tools/check.js'),
    },
    {
      name: 'crash',
      summary: 'kill processes that run a tool, and check the results of its calls',
      load: () => import('./commands/tools/crash.js'),
    },
  ],
};

const mcp: CommandGroup = {
  name: 'mcp',
  summary: 'serve the tools to MCP clients, and those of other MCP servers',
  examples: [],
  load: () => import('./commands/mcp/serve.js'),
  commands: [
    {
      name: 'list',
      summary: 'the MCP servers of the configuration, their state and their pins',
      load: () => import('./commands/mcp/list.js'),
    },
    {
      name: 'trust',
      summary: "show the descriptions of a server's tools, and pin them",
      load: () => import('./commands/mcp/trust.js'),
    },
    {
      name: 'import',
      summary: 'import servers from Claude Code, Cursor, VS Code and Gemini CLI',
      load: () => import('./commands/mcp/import.js'),
    },
  ],
};

const serve: CommandGroup = {
  name: 'serve',
  summary: 'serve a fleet over HTTP: calls, approvals and events',
  examples: [],
  load: () => import('./commands/serve/serve.js'),
  commands: [
    {
      name: 'token',
      summary: 'create, list and revoke the tokens of its clients',
      load: () => import('./commands/serve/token.js'),
    },
  ],
};

const config: CommandGroup = {
  name: 'config',
  summary: 'the configuration, and where each setting comes from',
  examples: [
    'toolexec config show --origin',
    'toolexec config trust',
    'toolexec config schema > toolexec.schema.json',
  ],
  commands: [
    {
      name: 'show',
      summary: 'every setting that applies here',
      load: () => import('./commands/config/show.js'),
    },
    {
      name: 'trust',
      summary: "trust a project's toolexec.toml, so that it can loosen settings",
      load: () => import('./commands/config/trust.js'),
    },
    {
      name: 'schema',
      summary: 'a JSON Schema of toolexec.toml, for editors',
      load: () => import('./commands/config/schema.js'),
    },
  ],
};

const policy: CommandGroup = {
  name: 'policy',
  summary: 'why a call runs, needs approval or is refused',
  examples: [
    `toolexec policy explain '{"name":"bash","args":{"command":"git push"}}'`,
    'toolexec policy check --config toolexec.toml',
    'toolexec policy replay calls.jsonl --config new.toml',
    'toolexec policy suggest calls.jsonl >> toolexec.toml',
    'toolexec policy later-code',
  ],
  commands: [
    {
      name: 'explain',
      summary: 'the decision about a call, the rule that made it, and the outcome of every other rule',
      load: () => import('./commands/policy/explain.js'),
    },
    {
      name: 'check',
      summary: 'whether the rules match their own examples, and each rule has an effect',
      load: () => import('./commands/policy/check.js'),
    },
    {
      name: 'replay',
      summary: 'evaluate recorded calls with the current configuration',
      load: () => import('./commands/policy/replay.js'),
    },
    {
      name: 'suggest',
      summary: 'propose rules for calls that were approved before',
      load: () => import('./commands/policy/suggest.js'),
    },
    {
      name: 'later-code',
      summary: 'the paths that run later by themselves',
      load: () => import('./commands/policy/later-code.js'),
    },
  ],
};

const journal: CommandGroup = {
  name: 'journal',
  summary: 'which calls ran, and their results',
  examples: [
    'toolexec journal list',
    'toolexec journal show toolu_01',
    'toolexec journal report --since 1d --html report.html',
    'toolexec journal recover',
    'toolexec journal undo toolu_01 --dry-run',
    'toolexec journal export > calls.jsonl',
  ],
  commands: [
    {
      name: 'list',
      summary: 'batches, newest first',
      load: () => import('./commands/journal/list.js'),
    },
    {
      name: 'show',
      summary: 'a batch, a call or a conversation: calls, effects, approvals, notes and results',
      load: () => import('./commands/journal/show.js'),
    },
    {
      name: 'report',
      summary: 'a summary of recent calls: failures, questions and times, tool by tool',
      load: () => import('./commands/journal/report.js'),
    },
    {
      name: 'export',
      summary: 'everything as JSON lines',
      load: () => import('./commands/journal/export.js'),
    },
    {
      name: 'verify',
      summary: 'whether every record is unchanged',
      load: () => import('./commands/journal/verify.js'),
    },
    {
      name: 'prune',
      summary: 'remove old records',
      load: () => import('./commands/journal/prune.js'),
    },
    {
      name: 'recover',
      summary: 'give the calls of dead processes their results, and decide about interrupted batches',
      load: () => import('./commands/journal/recover.js'),
    },
    undo,
  ],
};

const guard: CommandGroup = {
  name: 'guard',
  summary: "put toolexec in front of another agent's tools",
  examples: [
    'toolexec guard install claude-code',
    'toolexec guard install codex --user --yes',
    'toolexec guard status',
    'toolexec guard test',
    'toolexec guard remove gemini-cli',
  ],
  commands: [
    {
      name: 'install',
      summary: "write the hook lines into an agent's settings",
      load: () => import('./commands/guard/install.js'),
    },
    {
      name: 'status',
      summary: 'which agents are guarded, and the outcomes of their calls',
      load: () => import('./commands/guard/status.js'),
    },
    {
      name: 'remove',
      summary: 'remove the lines that install has added',
      load: () => import('./commands/guard/remove.js'),
    },
    {
      name: 'test',
      summary: 'play recorded documents through the installed lines',
      load: () => import('./commands/guard/test.js'),
    },
  ],
};

/** Every command, in help order. */
export const COMMANDS: readonly (CommandRow | CommandGroup)[] = [
  { name: 'run', summary: 'run the calls of a response', load: () => import('./commands/run.js') },
  { name: 'plan', summary: 'say what would happen, touch nothing', load: () => import('./commands/plan.js') },
  { name: 'call', summary: 'run one tool by hand', load: () => import('./commands/call.js') },
  {
    name: 'chat',
    summary: 'talk with a model that has these tools',
    load: () => import('./commands/chat.js'),
  },
  mcp,
  tools,
  config,
  policy,
  {
    name: 'repair',
    summary: 'mend a conversation whose calls and results no longer match',
    load: () => import('./commands/repair.js'),
  },
  journal,
  { name: 'waiting', summary: 'what waits for approval', load: () => import('./commands/waiting.js') },
  {
    name: 'watch',
    summary: 'show batches as they happen, and decide about those that wait',
    load: () => import('./commands/watch.js'),
  },
  undo,
  {
    name: 'init',
    summary: 'write a working project: an agent for a framework, or an MCP server',
    load: () => import('./commands/init.js'),
  },
  {
    name: 'try',
    summary: 'run a command of your own, look at what it changed, keep or discard it',
    load: () => import('./commands/try.js'),
  },
  {
    name: 'hook',
    summary: 'decide about one call of another agent: its hook document in, the answer out',
    isPlain: true,
    load: () => import('./commands/hook.js'),
  },
  {
    name: 'exec',
    summary: 'run one command that a hook has let through, in a transaction',
    isPlain: true,
    load: () => import('./commands/exec.js'),
  },
  guard,
  {
    name: 'worker',
    summary: 'run calls that other processes have queued',
    load: () => import('./commands/worker.js'),
  },
  serve,
  {
    name: 'approve',
    summary: 'decide about a deferred batch, and run its approved calls',
    load: () => import('./commands/approve.js'),
  },
  {
    name: 'doctor',
    summary: 'what works on this machine, and what to install for the rest',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'completions',
    summary: 'a script that completes commands, options and tool names',
    load: () => import('./commands/completions.js'),
  },
  { name: 'complete', summary: '', hidden: true, load: () => import('./commands/complete.js') },
];
