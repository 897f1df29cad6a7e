import { describe, expect, it } from 'vitest';
import { useToolexec } from './toolexec.js';

const toolexec = useToolexec();

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => Object(inner)[name], value);
}

interface Listed {
  readonly name: string;
  readonly consent: string;
}

describe('toolexec tools list', () => {
  it('shows every tool on a line, sorted by name, with its consent', async () => {
    const { code, stdout, stderr } = await toolexec.run(['tools', 'list']);
    expect([code, stderr]).toEqual([0, '']);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^TOOL +KIND +CONSENT +WHAT IT DOES$/);
    const names = lines.map((line) => line.split(' ')[0] ?? '');
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['bash', 'read_file', 'run_command', 'write_file']));
    expect(stdout).toMatch(/^bash +execution +asked for every call +\S/m);
    expect(stdout).toMatch(/^read_file +file +not asked for +\S/m);
    expect(stdout).toMatch(/^run_command +execution +refused +\S/m);
    expect(stdout).toMatch(/^write_file +file +by what a call touches +\S/m);
  });

  it('follows the configuration, and prints JSON for programs', async () => {
    const config = toolexec.write(
      'c.toml',
      '[tools.approval]\nmode = "deny"\nallowlist = ["Write"]\ndenylist = []\n',
    );
    const { code, stdout } = await toolexec.run(['tools', 'list', '--json', '--config', config]);
    expect(code).toBe(0);
    const listed: readonly Listed[] = JSON.parse(stdout);
    const consents = Object.fromEntries(listed.map(({ name, consent }) => [name, consent]));
    expect(consents).toMatchObject({ write_file: 'not asked for', read_file: 'refused', bash: 'refused' });
  });
});

describe('toolexec tools show', () => {
  it('shows arguments with their type and meaning, and whether they are required', async () => {
    const { code, stdout } = await toolexec.run(['tools', 'show', 'read_file']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^read_file\n/);
    expect(stdout).toMatch(/^ {2}path +string +required +The file/m);
    expect(stdout).toMatch(/^ {2}start_line +integer +optional +\S/m);
  });

  it('finds a tool by any of its names, and prints its schema as JSON', async () => {
    const { stdout } = await toolexec.run(['tools', 'show', 'Bash', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'bash',
      consent: 'asked for every call',
      inputSchema: { type: 'object', required: ['command'] },
    });
  });

  it('suggests the intended name', async () => {
    const { code, stdout, stderr } = await toolexec.run(['tools', 'show', 'raed_file']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe('toolexec: There is no tool "raed_file". Did you mean read_file?\n');
  });
});

describe('toolexec tools schema', () => {
  it.each([
    ['anthropic', ['name'], ['input_schema', 'type']],
    ['openai', ['function', 'name'], ['function', 'parameters', 'type']],
    ['openai-responses', ['name'], ['parameters', 'type']],
    ['gemini', ['name'], ['parameters', 'type']],
    ['native', ['name'], ['inputSchema', 'type']],
  ])('writes the tools of a request for %s, the same bytes each time', async (provider, name, type) => {
    const first = await toolexec.run(['tools', 'schema', '--for', provider]);
    const second = await toolexec.run(['tools', 'schema', '--for', provider]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toBe(first.stdout);
    const written: unknown = JSON.parse(first.stdout);
    const tools = provider === 'gemini' ? at(written, ['0', 'functionDeclarations']) : written;
    const rows = (tools as unknown[]).map((tool) => [at(tool, name), String(at(tool, type)).toLowerCase()]);
    expect(rows).toContainEqual(['read_file', 'object']);
    const names = rows.map(([told]) => String(told));
    expect(names).toEqual([...names].sort());
  });

  it('writes text for models without native tools', async () => {
    const { stdout } = await toolexec.run(['tools', 'schema', '--for', 'fenced']);
    expect(stdout).toContain('```tool');
    expect(stdout).toContain('read_file');
  });

  it('writes no tools in mode disabled, and the definitions of the configuration in parse_only', async () => {
    const disabled = toolexec.write('d.toml', '[tools]\nmode = "disabled"\n');
    const none = await toolexec.run(['tools', 'schema', '--for', 'anthropic', '--config', disabled]);
    expect(JSON.parse(none.stdout)).toEqual([]);
    const manual = toolexec.write(
      'm.toml',
      '[tools]\nmode = "parse_only"\n[[tools.definitions]]\nname = "ask_boss"\ndescription = "Asks"\nparameters = { type = "object" }\n',
    );
    const own = await toolexec.run(['tools', 'schema', '--for', 'anthropic', '--config', manual]);
    expect(JSON.parse(own.stdout)).toMatchObject([{ name: 'ask_boss', input_schema: { type: 'object' } }]);
  });

  it('requires a provider', async () => {
    const missing = await toolexec.run(['tools', 'schema']);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toMatch(/^toolexec: [^\n]*--for[^\n]*See toolexec tools schema --help\.\n$/);
    const wrong = await toolexec.run(['tools', 'schema', '--for', 'cohere']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/^toolexec: [^\n]*openai, openai-responses[^\n]*\n$/);
  });
});

describe('a group of commands', () => {
  it('lists its commands', async () => {
    const { code, stderr } = await toolexec.run(['tools']);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'toolexec: Name a subcommand of toolexec tools: list, show, schema, scan, approve, init, check or crash. See toolexec tools --help.\n',
    );
  });

  it('suggests the intended command', async () => {
    const { code, stderr } = await toolexec.run(['tools', 'lst']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^toolexec: [^\n]*Did you mean list\?[^\n]*\n$/);
  });

  it('has its own help, examples first', async () => {
    for (const words of [
      ['tools', '--help'],
      ['help', 'tools'],
      ['tools', 'schema', '--help'],
      ['config', 'show', '--help'],
    ]) {
      const { code, stdout, stderr } = await toolexec.run(words);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^Examples:\n {2}toolexec /);
    }
  });

  it.each([[['help', 'tools', 'show']], [['tools', 'help', 'show']]])(
    '%j is the help of the inner command',
    async (words) => {
      const { code, stdout } = await toolexec.run(words);
      expect([code, stdout]).toEqual([0, (await toolexec.run(['tools', 'show', '--help'])).stdout]);
      expect(stdout).toContain('Usage: toolexec tools show ');
    },
  );
});
