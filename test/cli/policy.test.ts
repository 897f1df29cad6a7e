import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

const RULES = `[[tools.approval.rules]]
decision = "allow"
command = "touch *"
match = ["touch a"]

[[tools.approval.rules]]
decision = "deny"
command = "git push *"
reason = "Open a pull request."
`;

describe('rules of a configuration', () => {
  it('decide about each part of a command: it is allowed, denied, or needs approval if one part is undecided', async () => {
    const config = toolexec.write('c.toml', RULES);
    const response = toolexec.json(
      'r.json',
      message(
        ['bash', { command: 'touch one' }],
        ['bash', { command: 'touch two; git push origin' }],
        ['bash', { command: 'touch three && ls' }],
        ['bash', { command: 'PATH=. touch four' }],
      ),
    );
    const { code, stdout } = await toolexec.run(['run', response, '--config', config]);
    expect(code).toBe(3);
    expect(stdout).toContain('Open a pull request.');
    const made = ['one', 'two', 'three', 'four'].filter((name) => existsSync(join(toolexec.root, name)));
    expect(made).toEqual(['one']);
  });

  it('of a project can deny but not allow, until it is trusted', async () => {
    writeFileSync(join(toolexec.root, 'toolexec.toml'), RULES);
    const response = toolexec.json('r.json', message(['bash', { command: 'touch one' }]));
    const untrusted = await toolexec.run(['run', response]);
    expect(untrusted.code).toBe(3);
    expect(untrusted.stderr).toContain('its rules may deny and ask, and not allow');
    await toolexec.run(['config', 'trust']);
    expect((await toolexec.run(['run', response])).code).toBe(0);
    expect(existsSync(join(toolexec.root, 'one'))).toBe(true);
  });
});

describe('rules about arguments', () => {
  const config = (args: string) =>
    toolexec.write(
      'c.toml',
      `[[tools.approval.rules]]\ndecision = "allow"\ntool = "write_file"\nargs = ${args}\n`,
    );
  const write = (args: object) => toolexec.json('r.json', message(['write_file', { content: 'x', ...args }]));

  it('come from a file, decide, and are explained', async () => {
    const file = config('{ "/path" = ["notes-*", "log"], "/mode" = "create" }');
    const run = async (args: object) => (await toolexec.run(['run', write(args), '--config', file])).code;
    expect(await run({ path: 'notes-1', mode: 'create' })).toBe(0);
    expect(await run({ path: 'other', mode: 'create' })).toBe(3);
    expect(await run({ path: 'notes-2' })).toBe(3);
    const call = JSON.stringify({ name: 'write_file', args: { path: 'notes-2', content: 'x' } });
    const { stdout } = await toolexec.run(['policy', 'explain', call, '--config', file]);
    expect(stdout).toContain('the argument /mode is missing');
    expect((await toolexec.run(['policy', 'check', '--config', file])).code).toBe(0);
  });

  it('that are invalid are reported with their line, rule and argument', async () => {
    const { code, stderr } = await toolexec.run([
      'policy',
      'check',
      '--config',
      config('{ path = "notes-*" }'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/c\.toml:\d+.*args has "path" with "notes-\*": expected a JSON pointer/);
  });
});

describe('toolexec policy explain', () => {
  it('names the rule with its file and line, and says why no other rule decided', async () => {
    const config = toolexec.write('c.toml', RULES);
    const call = JSON.stringify({ name: 'bash', args: { command: 'git push origin' } });
    const { code, stdout, stderr } = await toolexec.run(['policy', 'explain', call, '--config', config]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^pre_resolved {2}bash/);
    expect(stdout).toMatch(/^▸ user rules\[1\] \([^)]*c\.toml:6\): /m);
    expect(stdout).toMatch(/^ {2}user rules\[0\] \([^)]*c\.toml:1\): /m);
  });

  it('prints JSON for programs, and reads a response from standard input', async () => {
    const stdin = JSON.stringify(message(['bash', { command: 'rm -rf /' }], ['read_file', { path: '../x' }]));
    const { code, stdout } = await toolexec.run(['policy', 'explain', '-', '--json'], { stdin });
    expect(code).toBe(0);
    const explained: readonly { readonly code: string }[] = JSON.parse(stdout);
    expect(explained.map((one) => one.code)).toEqual(['security_violation', 'sandbox_violation']);
  });

  it('reports a value that is not a call in one line', async () => {
    for (const words of ['{"name":', 'hello', '[]', '{"name":"bash"}']) {
      const { code, stdout, stderr } = await toolexec.run(['policy', 'explain', words]);
      expect([words, code, stdout]).toEqual([words, 2, '']);
      expect(stderr).toMatch(/^toolexec: [^\n]+\n$/);
    }
  });
});

describe('toolexec policy later-code', () => {
  it('prints the built-in table, grouped by the kind of its rows', async () => {
    const { code, stdout, stderr } = await toolexec.run(['policy', 'later-code']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^The built-in table:\n\nHooks and settings of git\n {2}\*\*\/\.git\/hooks\n/);
    expect(stdout).toContain('\nMakefiles and the like\n  Makefile\n');
    expect(stdout).toContain(
      'Of these only the parts count that run: package.json, composer.json, deno.json',
    );
    const json = JSON.parse((await toolexec.run(['policy', 'later-code', '--json'])).stdout);
    expect(json).toMatchObject({
      builtIn: true,
      rows: [{ what: 'Hooks and settings of git' }, {}, {}, {}, {}, {}, {}],
    });
  });

  it('prints the table that the configuration puts in its place', async () => {
    const config = toolexec.write('c.toml', '[tools.approval]\nlater_code = ["run.sh", "package.json"]\n');
    const { stdout } = await toolexec.run(['policy', 'later-code', '--config', config]);
    expect(stdout).toBe(
      'From later_code under [tools.approval]:\n\nOf the configuration\n  run.sh\n  package.json\n\n' +
        'Of these only the parts count that run: package.json\n',
    );
  });

  it('prints the table with the rows of an untrusted project', async () => {
    toolexec.write('root/toolexec.toml', '[tools.approval]\nlater_code = ["run.sh"]\n');
    const { stdout } = await toolexec.run(['policy', 'later-code']);
    expect(stdout).toMatch(/^From later_code under \[tools\.approval\]:\n\nHooks and settings of git\n/);
    expect(stdout).toContain('\nOf the configuration\n  run.sh\n');
  });
});

describe('toolexec policy check', () => {
  it("marks rules that let the workspace's code run, and finds nothing wrong with them", async () => {
    const commands = ['make *', 'git status *', 'npm *', 'python3 *', '**', 'ls *', './x'];
    const rules = commands.map(
      (command) => `[[tools.approval.rules]]\ndecision = "allow"\ncommand = "${command}"\n`,
    );
    const denied = '[[tools.approval.rules]]\ndecision = "deny"\ncommand = "make install"\n';
    const config = toolexec.write('m.toml', [...rules, denied].join(''));
    const { code, stdout } = await toolexec.run(['policy', 'check', '--config', config, '--json']);
    const { marks } = JSON.parse(stdout);
    expect(code).toBe(0);
    const text = await toolexec.run([
      'policy',
      'check',
      '--config',
      toolexec.write('n.toml', rules[0] ?? ''),
    ]);
    expect([text.code, text.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^1 rules, and nothing wrong with them\nallow command "make \*", .*n\.toml:1\): runs the workspace's code: contained only in the sandbox\.\n$/,
      ),
    ]);
    expect(marks).toHaveLength(5);
  });

  it('accepts rules that have an effect', async () => {
    const config = toolexec.write('c.toml', RULES);
    const { code, stdout } = await toolexec.run(['policy', 'check', '--config', config]);
    expect([code, stdout]).toEqual([0, '2 rules, and nothing wrong with them\n']);
  });

  it('bug: said of rules for tools of MCP servers, programs and sub-agents that no such tool exists', async () => {
    toolexec.write('tools/gen.py', '#!/bin/sh\n');
    chmodSync(join(toolexec.folder, 'tools/gen.py'), 0o755);
    const rule = (tool: string): string =>
      `[[tools.approval.rules]]\ndecision = "ask"\ntool = ${JSON.stringify(tool)}\n`;
    const config = toolexec.write(
      'o.toml',
      `[tools.external]\ndirectories = [${JSON.stringify(join(toolexec.folder, 'tools'))}]\n` +
        '[mcp.servers.up]\ncommand = "up"\n' +
        ['up__create', 'up__read_*', 'gen', 'task', 'down__create', 'gone'].map(rule).join(''),
    );
    const { code, stdout } = await toolexec.run(['policy', 'check', '--config', config]);
    const named = [...stdout.matchAll(/no tool is called (\S+)\./g)].map(([, name]) => name);
    expect([code, named]).toEqual([1, ['down__create', 'gone']]);
  });

  it('reports a rule that can never have an effect, and an example that fails', async () => {
    const idle = toolexec.write(
      'i.toml',
      '[[tools.approval.rules]]\ndecision = "deny"\ntool = "no_such_tool"\n',
    );
    const never = await toolexec.run(['policy', 'check', '--config', idle]);
    expect(never.code).toBe(1);
    expect(never.stdout).toMatch(/^[^\n]*i\.toml:1[^\n]*\n$/);
    const wrong = toolexec.write('w.toml', `${RULES}match = ["git pull"]\n`);
    const refused = await toolexec.run(['policy', 'check', '--config', wrong]);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(/^toolexec: [^\n]*git pull[^\n]*\n$/);
  });
});

describe('an unknown table', () => {
  it('is answered with the correct name', async () => {
    const config = toolexec.write('p.toml', '[policy]\nmode = "auto"\n');
    expect(await toolexec.run(['policy', 'check', '--config', config])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[policy] is not known. Did you mean [tools.approval]?'),
    });
  });
});
