import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CONFIG_KEYS } from '../src/config/config-keys.js';
import { parseConfig } from '../src/config/load-config.js';
import { resolveConfig } from '../src/config/resolve-config.js';
import type { Executor, RunOptions } from '../src/contract/executor.js';
import type { JsonObject } from '../src/contract/json.js';
import type { ToolDefinition } from '../src/contract/tool.js';
import { builtinTools } from '../src/executor/builtin-tools.js';
import { createExecutor } from '../src/executor/create-executor.js';
import { defineTool } from '../src/executor/declare/define-tool.js';
import type { ExecutorOptions } from '../src/executor/executor-options.js';
import { listSettings } from '../src/tools/list-directory/list-request.js';

const DEFINITIONS = `
  [[tools.definitions]]
  name = "weather"
  description = "Says what the weather is like."
  parameters = { type = "object", properties = { city = { type = "string" } } }
  [[tools.definitions]]
  name = "clock"
  description = "Says what time it is."
  parameters = { type = "object" }
`;

describe('an executor with definitions of the configuration', () => {
  it('shows them in mode parse_only, sorted by name (D114)', () => {
    expect(configured(`tools.mode = "parse_only"\n${DEFINITIONS}`).definitions()).toEqual([
      { name: 'clock', description: 'Says what time it is.', inputSchema: { type: 'object' } },
      {
        name: 'weather',
        description: 'Says what the weather is like.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
      },
    ]);
  });

  it('shows its tools in mode enabled, and nothing in mode disabled (D115)', () => {
    expect(configured(DEFINITIONS).definitions()).toEqual(createExecutor().definitions());
    expect(configured(`tools.mode = "disabled"\n${DEFINITIONS}`).definitions()).toEqual([]);
  });

  it('shows its tools in mode parse_only where there are none', () => {
    expect(configured('tools.mode = "parse_only"\ntools.definitions = []').definitions()).toEqual(
      createExecutor().definitions(),
    );
  });

  it('keeps them as they were given, and hands out copies that the caller may change', () => {
    const schema = { type: 'object', properties: {} };
    const definitions = [{ name: 'x', description: 'y', inputSchema: schema }];
    const executor = createExecutor({ mode: 'parse_only', definitions });
    schema.properties = { a: { type: 'string' } };
    definitions.pop();
    const given = [{ name: 'x', description: 'y', inputSchema: { type: 'object', properties: {} } }];
    const [first] = executor.definitions();
    expect(first).toEqual(given[0]);
    Object.assign(first?.inputSchema ?? {}, { properties: { b: {} } });
    expect(executor.definitions()).toEqual(given);
  });

  it.each<[string, unknown]>([
    ['definitions must be a list', {}],
    ['options.definitions[0] must be a definition of a tool, not 3.', [3]],
    ['options.definitions[1].name must be a name', [definition(), definition({ name: 'a b' })]],
    ['options.definitions[0].description must be a text', [definition({ description: ' ' })]],
    [
      'options.definitions[0].inputSchema must be a JSON Schema of an object',
      [definition({ inputSchema: 1 })],
    ],
    ['options.definitions[0].inputSchema.type must be "object"', [definition({ inputSchema: {} })]],
    [
      'options.definitions[0].inputSchema.x must be a value of JSON',
      [definition({ inputSchema: { type: 'object', x: () => 1 } })],
    ],
    ['options.definitions[0].parameters is not known.', [definition({ parameters: {} })]],
    ['options.definitions[1].name is "x", as [0].name is.', [definition(), definition()]],
  ])('refuses what is none: %s', (told, definitions) => {
    const options: object = { definitions };
    expect(() => createExecutor(options)).toThrow(told);
  });
});

describe('an executor with [tools.list_directory] of the configuration', () => {
  it('lists no more than max_entries, and refuses to be asked for more', async () => {
    const root = tree(['a', 'b', 'c', '.hidden']);
    const executor = configured('[tools.list_directory]\nmax_entries = 2\ninclude_hidden_default = true', {
      root,
    });
    expect(names(await executor.invoke('list_directory', { path: '.' }))).toEqual(['.hidden', 'a']);
    const refused = await executor.execute('list_directory', { path: '.', max_entries: 3 });
    expect(refused.error?.code).toBe('bad_args');
  });

  it.each([
    ['include_files_default = false', ['dir']],
    ['include_dirs_default = false', ['a']],
    ['include_hidden_default = true', ['.h', 'a', 'dir']],
    ['max_depth = 1', ['a', 'dir']],
  ])('holds %s', async (text, expected) => {
    const root = tree(['a', '.h']);
    mkdirSync(join(root, 'dir'));
    const executor = configured(`tools.list_directory.${text}`, { root });
    const recursive = text.startsWith('max_depth');
    if (recursive) writeFileSync(join(root, 'dir', 'deep'), '');
    expect(names(await executor.invoke('list_directory', { path: '.', recursive }))).toEqual(expected);
  });

  it('takes a configuration that names it along with tools of one’s own', () => {
    const { executor: options } = parseConfig('tools.list_directory.max_entries = 2', PLACE);
    const own = createExecutor({ ...options, tools: builtinTools(options.builtins) });
    expect(JSON.stringify(own.definitions())).toContain('Default and maximum: 2.');
  });

  it.each([
    ['builtinTools.listDirectory', { listDirectory: 3 }],
    ['builtinTools.nope', { nope: {} }],
    ['listDirectory.maxEntries must be a whole number from 1', { listDirectory: { maxEntries: 0 } }],
    ['listDirectory.includeFiles must be true or false', { listDirectory: { includeFiles: 'yes' } }],
    ['listDirectory.maxEntry', { listDirectory: { maxEntry: 1 } }],
  ])('refuses %s', (told, builtins) => {
    const options: object = { builtins };
    expect(() => createExecutor(options)).toThrow(told);
  });
});

describe('the defaults of the configuration', () => {
  it('are those of list_directory', () => {
    const named = Object.values(CONFIG_KEYS).filter(({ option }) => option.startsWith(LISTING));
    expect(
      Object.fromEntries(named.map(({ option, fallback }) => [option.slice(LISTING.length), fallback])),
    ).toEqual(listSettings({}));
  });

  it('change nothing when they are written out: a call sees the same limits', async () => {
    const text = Object.entries(CONFIG_KEYS)
      .filter(([, { fallback }]) => fallback !== undefined)
      .map(([key, { fallback }]) => `${key} = ${JSON.stringify(fallback)}`)
      .join('\n');
    const [bare, written] = [await limitsSeen({}), await limitsSeen(parseConfig(text, PLACE).executor)];
    expect(written).toEqual(bare);
    expect(bare).toMatchObject({ maxApplyPatchBytes: 524_288, maxFileReadBytes: 204_800 });
  });

  it('hand max_patch_bytes on to tools (D123)', async () => {
    const { executor } = parseConfig('tools.apply_patch.max_patch_bytes = 7', PLACE);
    expect(await limitsSeen(executor)).toMatchObject({ maxApplyPatchBytes: 7 });
  });

  it.each(['maxToolIterationsPerUserTurn', 'maxApplyPatchBytes'])('have limits.%s checked', (name) => {
    const options: object = { limits: { [name]: 0 } };
    expect(() => createExecutor(options)).toThrow(`limits.${name} must be`);
  });
});

describe('an executor with the file of a project that nobody has trusted', () => {
  it('refuses run_command, bash unasked and what lies outside, whatever the file says', async () => {
    const home = tree([]);
    const project = join(home, 'project');
    mkdirSync(join(project, '.git'), { recursive: true });
    writeFileSync(join(home, 'secret.txt'), 'secret');
    writeFileSync(
      join(project, 'toolexec.toml'),
      `[tools.approval]
       mode = "auto"
       denylist = []
       allowlist = ["bash", "write_file", "run_command"]
       prompt_side_effects = false
       [tools.sandbox]
       allowed_roots = [".."]
       allow_absolute = true
       include_default_denies = false`,
    );
    writeFileSync(join(project, '.env'), 'KEY=1');
    const { configuration } = resolveConfig({ cwd: project, env: { HOME: home } });
    const executor = createExecutor({ root: project, ...configuration.executor });
    const codeOf = async (name: string, args: JsonObject): Promise<string | undefined> =>
      (await executor.execute(name, args)).error?.code;
    expect(await codeOf('run_command', { command: 'true' })).toBe('denylisted');
    expect(await codeOf('bash', { command: 'true' })).toBe('approval_unavailable');
    expect(await codeOf('write_file', { path: 'x', content: 'y' })).toBe('approval_unavailable');
    expect(await codeOf('read_file', { path: '../secret.txt' })).toBe('sandbox_violation');
    expect(await codeOf('read_file', { path: join(project, 'toolexec.toml') })).toBe('sandbox_violation');
    expect(await codeOf('read_file', { path: '.env' })).toBe('sandbox_violation');
  });

  it('gives no built-in tool more time than it has without it', () => {
    const home = tree([]);
    const classes = {
      default: 'default',
      files: 'file_operations',
      commands: 'shell_commands',
      external: 'external_tools',
    };
    for (const { timeoutClass, defaultTimeoutMs } of builtinTools()) {
      if (defaultTimeoutMs === undefined) continue;
      const seconds = defaultTimeoutMs / 1000 + 1;
      writeFileSync(
        join(home, 'toolexec.toml'),
        `tools.timeouts.${classes[timeoutClass]}_seconds = ${seconds}`,
      );
      expect(resolveConfig({ cwd: home, env: { HOME: home } }).configuration.executor).toEqual({});
    }
  });
});

const PLACE = { file: 'toolexec.toml', directory: '/' };
const LISTING = 'executor.builtins.listDirectory.';

function configured(text: string, options: ExecutorOptions = {}): Executor {
  return createExecutor({ ...parseConfig(text, PLACE).executor, ...options });
}

function definition(changes: Readonly<Record<string, unknown>> = {}): Partial<ToolDefinition> {
  return { name: 'x', description: 'y', inputSchema: { type: 'object' }, ...changes };
}

function tree(files: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-configured-')));
  onTestFinished(() => {
    rmSync(root, { recursive: true, force: true });
  });
  for (const name of files) writeFileSync(join(root, name), '');
  return root;
}

function names(listing: string): string[] {
  const { entries }: { readonly entries: readonly { readonly name: string }[] } = JSON.parse(listing);
  return entries.map(({ name }) => name);
}

async function limitsSeen(options: ExecutorOptions, run: RunOptions = {}): Promise<unknown> {
  let seen: unknown;
  const look = defineTool({
    name: 'look',
    description: 'looks at its limits',
    input: { type: 'object' },
    effects: () => [],
    execute: (_args, { limits }) => {
      seen = limits;
      return 'seen';
    },
  });
  await createExecutor({ ...options, tools: [look] }).invoke('look', {}, run);
  return seen;
}
