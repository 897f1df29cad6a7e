import type { ConfigKey } from '../src/config/config-key.js';
import { CONFIG_KEYS } from '../src/config/config-keys.js';
import { variableOf } from '../src/config/config-layer.js';

const EXAMPLE = `#:schema ./toolexec.schema.json

[tools]
mode = "enabled"
allow_parallel = true
max_tool_calls_per_batch = 16

[tools.sandbox]
allowed_roots = [".", "../notes"]          # the first is the working directory
denied_patterns = ["**/secrets/**"]        # besides the built-in ones
denied_write_patterns = ["**/*.lock"]

[tools.timeouts]
shell_commands_seconds = 600

[tools.environment]
denylist = ["INTERNAL_*"]                  # besides the built-in ones
pass = ["NPM_TOKEN"]

[tools.approval]
mode = "prompt"
allowlist = ["read_file", "list_directory"]
denylist = ["run_command"]                 # replaces the default: leave it out, and it may run

[tools.list_directory]
max_entries = 500

# Shown to a model in mode "parse_only"; another program answers the calls.
[[tools.definitions]]
name = "weather"
description = "Says what the weather is like in a city."
parameters = { type = "object", properties = { city = { type = "string" } }, required = ["city"] }
`;

/** docs/configuration.md, from the table of keys. */
export function configurationDocument(): string {
  return [
    '# How do I configure it?',
    '',
    'Written by `npm run docs` from `src/config/config-keys.ts`, which the loader, the layers and the',
    '[JSON Schema](toolexec.schema.json) read as well.',
    '',
    'The file is TOML, in UTF-8, of at most a megabyte. Nothing in it is ignored: an unknown',
    'key or a wrong value ends the command with exit code 2, and every problem is reported with line and column.',
    '',
    '```toml',
    EXAMPLE.trimEnd(),
    '```',
    '',
    'The first line is for editors that know JSON Schema for TOML; `toolexec config schema` writes the schema.',
    '',
    ...PRECEDENCE,
    '',
    ...TRUST,
    '',
    ...ADMINISTRATOR,
    '',
    '## Keys',
    '',
    'The last column says what an untrusted project file may change.',
    '',
    ...sections().flatMap(([section, keys]) => sectionOf(section, keys)),
  ].join('\n');
}

const PRECEDENCE = [
  '## Which value applies',
  '',
  'From the strongest to the weakest; `toolexec config show --origin` says where each value comes from.',
  '',
  '1. Options of the command.',
  '2. Environment variables: `tools.approval.mode` is `TOOLEXEC_TOOLS_APPROVAL_MODE`. Truth values are `true`, `false`, `1`',
  '   and `0`; a list is `a, b`, or TOML’s own `["a", "b"]` if an entry contains a comma. An empty variable sets nothing.',
  '   Rules, hooks and MCP servers have no variable.',
  '3. The project’s `toolexec.toml`: in the working directory or the nearest parent up to the one with `.git`; without such a',
  '   parent, in the working directory only. `--config FILE`, or `TOOLEXEC_CONFIG`, names another file instead.',
  '4. Your own: `$XDG_CONFIG_HOME/toolexec/config.toml`, else `~/.config/toolexec/config.toml`.',
  '5. The default.',
  '',
  'A value replaces weaker ones. Three lists are joined instead: `tools.environment.denylist`,',
  '`tools.sandbox.denied_patterns` and `tools.sandbox.denied_write_patterns`. Relative directories start from the directory',
  'of the file that names them; those of options and variables from the working directory.',
  '',
  'In a program, `loadConfig(file)` reads one file, which it trusts: `createExecutor({ ...loadConfig(file).executor })`.',
];

const ADMINISTRATOR = [
  '## Settings of the administrator',
  '',
  '`/etc/toolexec/toolexec.toml` applies to the command of every user of the machine. Everything above can only tighten it, in',
  'the way that the last column of the tables below shows; a value that would loosen it is not applied, and is reported.',
  'Its rules belong to the tier `administrator`, which no lower tier can loosen ([policy.md](policy.md)). The path is fixed:',
  'no variable or option changes it. The file and its directory must belong to root, and only root may write them;',
  'otherwise the file is ignored, and that is reported.',
];

const TRUST = [
  '## A project’s file may only tighten',
  '',
  'A repository that you have cloned is not trusted, nor is the `toolexec.toml` in it. Until you run `toolexec config trust`,',
  'its values apply only if they are stricter than the values without it: those of your own file, else',
  'the defaults. A value that would loosen something is not applied, and is reported. `toolexec config trust` records the',
  'file and the hash of its bytes in `$XDG_STATE_HOME/toolexec/trusted.json` (else `~/.local/state`); a changed file has to',
  'be trusted again. A file that you name yourself with `--config` is trusted.',
  'Why: [decision 13](decisions/0013-project-files-only-tighten.md).',
];

type Keys = readonly (readonly [key: string, known: ConfigKey])[];

function sections(): readonly (readonly [string, Keys])[] {
  const sectionNames = new Set(Object.keys(CONFIG_KEYS).map((key) => key.slice(0, key.lastIndexOf('.'))));
  return [...sectionNames].map((section) => [
    section,
    Object.entries(CONFIG_KEYS).filter(([key]) => key.slice(0, key.lastIndexOf('.')) === section),
  ]);
}

function sectionOf(section: string, keys: Keys): string[] {
  return [
    `### \`[${section}]\``,
    '',
    '| key | value | default | variable | meaning | untrusted |',
    '| --- | --- | --- | --- | --- | --- |',
    ...keys.map(([key, { kind, fallback, meaning, tighten }]) =>
      row([
        `\`${key.slice(section.length + 1)}\``,
        kind.expected.replaceAll(/"([^"]*)"/g, '`$1`'),
        fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``,
        kind.fromText === undefined ? '' : `\`${variableOf(key)}\``,
        meaning,
        tighten.may,
      ]),
    ),
    '',
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
