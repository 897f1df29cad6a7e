import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { blocksOf, message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

const project = (text: string): void => writeFileSync(join(toolexec.root, 'toolexec.toml'), text);
function user(text: string): void {
  mkdirSync(join(toolexec.folder, '.config', 'toolexec'), { recursive: true });
  writeFileSync(join(toolexec.folder, '.config', 'toolexec', 'config.toml'), text);
}

/** Every key with its value and its source. */
async function shown(args: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await toolexec.run(['config', 'show', '--json', ...args], { env });
  expect(code).toBe(0);
  const report: { settings: Record<string, { value: unknown; origin: string }> } = JSON.parse(stdout);
  return { stderr, of: (key: string) => [report.settings[key]?.value, report.settings[key]?.origin] };
}

describe('toolexec config show', () => {
  it('prints a configuration with the same meaning', async () => {
    const first = await toolexec.run(['config', 'show']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(parse(first.stdout)).toMatchObject({
      tools: { mode: 'enabled', approval: { denylist: ['run_command'] } },
    });
    const again = await toolexec.run([
      'config',
      'show',
      '--config',
      toolexec.write('again.toml', first.stdout),
    ]);
    expect(again.stdout).toBe(first.stdout);
  });

  it('applies the environment before the project, the project before the user, and the user before the default', async () => {
    user(
      '[tools]\nmax_tool_calls_per_batch = 7\nmax_tool_args_bytes = 1000\n[tools.output]\nmax_bytes = 5000\n',
    );
    project('[tools]\nmax_tool_calls_per_batch = 6\nmax_tool_args_bytes = 900\n');
    const { of, stderr } = await shown([], { TOOLEXEC_TOOLS_MAX_TOOL_CALLS_PER_BATCH: '5' });
    expect(stderr).toBe('');
    expect(of('tools.max_tool_calls_per_batch')).toEqual([5, 'TOOLEXEC_TOOLS_MAX_TOOL_CALLS_PER_BATCH']);
    expect(of('tools.max_tool_args_bytes')).toEqual([900, 'project toolexec.toml:3']);
    expect(of('tools.output.max_bytes')).toEqual([5000, 'user ../.config/toolexec/config.toml:5']);
    expect(of('tools.mode')).toEqual(['enabled', 'default']);
  });

  it('shows the origin of each line with --origin', async () => {
    project('[tools]\nmode = "parse_only"\n');
    const { stdout } = await toolexec.run(['config', 'show', '--origin']);
    expect(stdout).toMatch(/^mode = "parse_only" +# project toolexec\.toml:2$/m);
    expect(stdout).toMatch(/^allow_parallel = false +# default$/m);
  });

  it('shows the origin of each table too, and is still a configuration', async () => {
    const rule = (command: string) => `[[tools.approval.rules]]\ndecision = "deny"\ncommand = "${command}"\n`;
    project(`[tools]\nmode = "enabled"\n\n${rule('a')}`);
    toolexec.write('.config/toolexec/config.toml', `${rule('b')}\n${rule('c')}`);
    const { stdout } = await toolexec.run(['config', 'show', '--origin']);
    expect(
      stdout.match(/^\[\[tools\.approval\.rules\]\] +# .*$/gm)?.map((line) => line.replace(/ +/g, ' ')),
    ).toEqual([
      '[[tools.approval.rules]] # project toolexec.toml:4',
      '[[tools.approval.rules]] # user ../.config/toolexec/config.toml:1',
      '[[tools.approval.rules]] # user ../.config/toolexec/config.toml:5',
    ]);
    const shown = toolexec.write('shown.toml', stdout);
    expect((await toolexec.run(['config', 'show', '--config', shown])).code).toBe(0);
  });

  it('is still a configuration with named tables', async () => {
    const file = toolexec.write(
      'tables.toml',
      [
        '[tools.external]',
        'versions = { slug = "^1.2", "a-b" = "1" }',
        'max_concurrent = { slug = 2 }',
        '[fleet.quotas]',
        'tools = { deploy = 1 }',
        '[mcp.servers.notes]',
        'command = "notes"',
        '[mcp.servers.web]',
        'url = "https://mcp.example"',
      ].join('\n'),
    );
    const first = await toolexec.run(['config', 'show', '--config', file]);
    expect(parse(first.stdout)).toMatchObject({
      tools: { external: { versions: { slug: '^1.2', 'a-b': '1' }, max_concurrent: { slug: 2 } } },
      fleet: { quotas: { tools: { deploy: 1 } } },
      mcp: { servers: { notes: { command: 'notes' }, web: { url: 'https://mcp.example' } } },
    });
    for (const options of [[], ['--origin']]) {
      const again = await toolexec.run(['config', 'show', '--config', file, ...options]);
      const shown = toolexec.write('shown.toml', again.stdout);
      expect(await toolexec.run(['config', 'show', '--config', shown])).toEqual(first);
    }
    const { stdout } = await toolexec.run(['config', 'show', '--origin', '--config', file]);
    expect(stdout).toMatch(/^\[tools\.external\.versions\] +# \.\.\/tables\.toml:2$/m);
  });

  it("shows no header and no variable's value of an MCP server, and neither does a warning", async () => {
    project(
      '[mcp.servers.a]\nurl = "https://mcp.example"\nheaders = { Authorization = "Bearer s3cret", B = { env = "B" } }\nenv = { KEY = "s3cret" }\n',
    );
    const untrusted = await toolexec.run(['config', 'show']);
    expect(untrusted.stderr).toContain('mcp.servers');
    const named = await toolexec.run(['config', 'show', '--config', 'toolexec.toml']);
    expect(named.stdout).toContain('Authorization = "(hidden)"');
    expect(named.stdout).toContain('[mcp.servers.a.headers.B]\nenv = "B"');
    const { of } = await shown(['--config', 'toolexec.toml']);
    expect(untrusted.stderr + named.stdout + JSON.stringify(of('mcp.servers'))).not.toContain('s3cret');
  });

  it.each([[['tools', 'list']], [['tools', 'show', 'bash']], [['waiting']], [['journal', 'recover']]])(
    '%j reports a setting that is not applied, as JSON with --json',
    async (words) => {
      project('[tools.approval]\nmode = "auto"\n');
      const told = /toolexec\.toml:2 sets tools\.approval\.mode = .*not applied/;
      const { stderr } = await toolexec.run(words);
      expect(stderr).toMatch(told);
      const asJson = await toolexec.run([...words, '--json']);
      const notes = asJson.stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(notes[0]).toEqual({ type: 'note', message: expect.stringMatching(told) });
      expect(() => JSON.parse(asJson.stdout)).not.toThrow();
    },
  );

  it.each([
    [['journal', 'list']],
    [['journal', 'report']],
    [['journal', 'verify']],
    [['journal', 'recover']],
    [['waiting']],
    [['tools', 'list', '--metrics']],
  ])('%j --json has JSON on standard error too, before there is a journal', async (words) => {
    const { code, stdout, stderr } = await toolexec.run([...words, '--json']);
    expect([code, JSON.parse(stderr)]).toEqual([
      0,
      { type: 'note', message: expect.stringMatching(/there is no journal/i) },
    ]);
    expect(() => JSON.parse(stdout)).not.toThrow();
  });

  it('refuses an environment variable for a key without one', async () => {
    for (const name of ['TOOLEXEC_TOOLS_APPROVAL_RULES', 'TOOLEXEC_HOOKS_STOP', 'TOOLEXEC_MCP_SERVERS']) {
      const { code, stderr } = await toolexec.run(['config', 'show'], { env: { [name]: '[]' } });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          new RegExp(
            `^toolexec: Cannot use the variable ${name}: \\S+ has no variable\\. Write it in a toolexec\\.toml\\.\\n$`,
          ),
        ),
      ]);
    }
  });

  it("uses a named file instead of the project's, and trusts it", async () => {
    project('[tools]\nmode = "disabled"\n');
    const file = toolexec.write('c.toml', '[tools.approval]\nmode = "auto"\n');
    const { of } = await shown(['--config', file]);
    expect(of('tools.mode')).toEqual(['enabled', 'default']);
    expect(of('tools.approval.mode')).toEqual(['auto', '../c.toml:2']);
  });

  it('reports a typo with its line and column, and a suggestion', async () => {
    project('[tools]\n  mod = "enabled"\n');
    const { code, stdout, stderr } = await toolexec.run(['config', 'show']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^toolexec: [^\n]*toolexec\.toml:2:3[^\n]*Did you mean tools\.mode\?\n$/);
  });

  it('lists every problem of a file, not only the first', async () => {
    project('[tools]\nmode = "enabld"\nmodee = 1\n[tools.output]\nmax_bytes = "1"\n');
    const { code, stdout, stderr } = await toolexec.run(['config', 'show']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^toolexec: Cannot use .*toolexec\.toml:2:1: .* And 2 more problems\.$/),
      expect.stringMatching(
        /^ {2}\S*toolexec\.toml:3:1: tools\.modee is not known\. Did you mean tools\.mode\?$/,
      ),
      expect.stringMatching(/^ {2}\S*toolexec\.toml:5:1: tools\.output\.max_bytes must be .*, not "1"\.$/),
      '',
    ]);
    const asJson = await toolexec.run(['config', 'show', '--json']);
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      type: 'error',
      further: [expect.stringContaining('tools.modee'), expect.stringContaining('max_bytes')],
    });
  });

  it('counts the problems that it does not list', async () => {
    project(Array.from({ length: 60 }, (_, index) => `mod${index} = 1\n`).join(''));
    const { stderr } = await toolexec.run(['config', 'show']);
    expect(stderr.split('\n')).toHaveLength(52);
    expect(stderr).toMatch(/mod49 is not known\. Remove it\.\n {2}… and 10 more\n$/);
  });

  it('reports an unknown variable', async () => {
    const { stderr } = await shown([], { TOOLEXEC_TOOLS_MODES: 'enabled' });
    expect(JSON.parse(stderr)).toMatchObject({
      type: 'note',
      message: expect.stringContaining('TOOLEXEC_TOOLS_MODE'),
    });
  });
});

describe("a project's toolexec.toml", () => {
  const hostile = '[tools.approval]\nmode = "auto"\nallowlist = ["write_file", "bash"]\ndenylist = []\n';
  const response = (): string =>
    toolexec.json(
      'r.json',
      message(['write_file', { path: 'planted', content: 'x' }], ['run_command', { command: 'touch ran' }]),
    );

  it('can only tighten settings until it is trusted, and ignored values are reported', async () => {
    project(hostile);
    const { code, stdout, stderr } = await toolexec.run(['run', response()]);
    expect(code).toBe(3);
    expect(blocksOf(stdout).map(({ is_error }) => is_error)).toEqual([true, true]);
    expect(existsSync(join(toolexec.root, 'planted'))).toBe(false);
    expect(existsSync(join(toolexec.root, 'ran'))).toBe(false);
    expect(stderr).toMatch(
      /^toolexec: toolexec\.toml:2 sets tools\.approval\.mode = "auto", which is not applied: /m,
    );
    expect(stderr).toContain('toolexec config trust');
  });

  it('applies if it is stricter', async () => {
    project('[tools]\nmode = "disabled"\n');
    const { code, stdout } = await toolexec.run([
      'run',
      toolexec.json('r.json', message(['read_file', { path: 'toolexec.toml' }])),
    ]);
    expect(code).toBe(1);
    expect(blocksOf(stdout)[0]?.is_error).toBe(true);
  });

  it('applies completely once it is trusted, until it changes', async () => {
    project(hostile);
    const trusted = await toolexec.run(['config', 'trust']);
    expect(trusted).toMatchObject({ code: 0, stderr: '' });
    expect(trusted.stdout).toMatch(/^toolexec\.toml is trusted as it is now \(sha256 [0-9a-f]{16}…\)\n$/);
    const run = await toolexec.run(['run', response()]);
    // A command still asks: no list is consent to it.
    expect(run.code).toBe(3);
    expect(existsSync(join(toolexec.root, 'planted'))).toBe(true);
    expect(existsSync(join(toolexec.root, 'ran'))).toBe(false);
    project(`${hostile}# changed\n`);
    const { of, stderr } = await shown();
    expect(of('tools.approval.mode')).toEqual(['prompt', 'default']);
    expect(stderr).toContain('not applied');
  });

  it('can be untrusted again', async () => {
    project(hostile);
    await toolexec.run(['config', 'trust']);
    expect((await toolexec.run(['config', 'trust', '--revoke'])).stdout).toBe(
      'toolexec.toml is no longer trusted\n',
    );
    expect((await shown()).of('tools.approval.mode')[0]).toBe('prompt');
    expect((await toolexec.run(['config', 'trust', '--revoke'])).stdout).toBe(
      'toolexec.toml was not trusted\n',
    );
  });

  it('cannot be trusted if it is missing or invalid', async () => {
    const none = await toolexec.run(['config', 'trust']);
    expect([none.code, none.stdout]).toEqual([2, '']);
    expect(none.stderr).toMatch(/^toolexec: Cannot find a toolexec\.toml[^\n]*\n$/);
    project('[tools]\nmode = 1\n');
    const broken = await toolexec.run(['config', 'trust']);
    expect([broken.code, broken.stdout]).toEqual([2, '']);
    expect(broken.stderr).toMatch(/toolexec\.toml:2:\d+/);
  });
});

describe('toolexec config schema', () => {
  it('prints a JSON Schema with every key', async () => {
    const { code, stdout } = await toolexec.run(['config', 'schema']);
    expect(code).toBe(0);
    const schema: { $schema: string; properties: { tools: { properties: Record<string, unknown> } } } =
      JSON.parse(stdout);
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(Object.keys(schema.properties.tools.properties)).toEqual(
      expect.arrayContaining([
        'mode',
        'definitions',
        'sandbox',
        'timeouts',
        'approval',
        'apply_patch',
        'list_directory',
      ]),
    );
  });
});
