import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unprivileged } from '../../src/platform/fixtures/unprivileged.js';
import { message, type Ran, Toolexec, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

/** One line, no stack, exit code 2, and nothing on standard output. */
function expectRefused({ code, stdout, stderr }: Ran, ...told: readonly (string | RegExp)[]): void {
  expect(stderr).toMatch(/^toolexec: [^\n]+\n$/);
  for (const part of told) expect(stderr).toMatch(part);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(stdout).toBe('');
  expect(code).toBe(2);
}

describe('toolexec run, with an invalid response', () => {
  it('names a file that does not exist', async () => {
    expectRefused(await toolexec.run(['run', 'no.json']), 'Cannot read "no.json": it does not exist.');
  });

  it('names a directory', async () => {
    expectRefused(await toolexec.run(['run', '.']), 'Cannot read ".": it is a directory. Name a file.');
  });

  it('names a path through a file', async () => {
    const file = toolexec.write('r.json', '[]');
    expectRefused(await toolexec.run(['run', join(file, 'x')]), 'is a file, not a directory');
  });

  it('names an unreadable file', () =>
    unprivileged(async () => {
      const own = new Toolexec();
      const file = own.write('r.json', '[]');
      chmodSync(file, 0);
      expectRefused(await own.run(['run', file]), 'permission is denied');
      own.remove();
    }));

  it.each([
    ['nothing', '', /it is empty/],
    ['blanks', ' \n\t\n', /it is empty/],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0, 0, 0, 13]), /it is binary/],
    ['Latin 1', Buffer.from([0x7b, 0x22, 0xe4, 0x22, 0x7d]), /it is not UTF-8\. Save it as UTF-8\./],
    ['UTF-16', Buffer.from('\ufeff[]', 'utf16le'), /it is UTF-16/],
    ['truncated JSON', '{"content":[\n{"type":"tool_use",', /line 2, column 20/],
    ['broken JSON', '[{"name":}]', /line 1, column 10/],
    ['a JSON number', '42', /no known shape/],
    ['the error page of a proxy', '<html>502</html>\n', /no known shape/],
    ['an object of no known shape', '{"hello":"world"}', /no known shape/],
    ['one unfinished block', 'So:\n```tool\n{"name":"read_file","args":{"path":"a"', /ends inside its block/],
  ])('refuses %s, from a file and from standard input', async (_what, content, told) => {
    const file = toolexec.write('in', content);
    expectRefused(await toolexec.run(['run', file]), `Cannot read "${file}": `, told);
    expectRefused(await toolexec.run(['run', '-'], { stdin: content }), 'Cannot read standard input: ', told);
  });

  it('refuses more than 64 MiB', async () => {
    const file = toolexec.write('r.json', `[${' '.repeat(64 * 1024 * 1024)}]`);
    expectRefused(await toolexec.run(['run', file]), 'larger than 67108864 bytes');
  });

  it('answers a complete block without JSON, because it is a call', async () => {
    const { code, stdout } = await toolexec.run(['run'], { stdin: '```tool\n{"name"\n```\n' });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ success: false })]);
  });

  it('says it in JSON with --json', async () => {
    const { code, stderr } = await toolexec.run(['run', 'no.json', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toEqual({
      type: 'error',
      message: expect.stringContaining('it does not exist'),
    });
  });

  it('does not let a file name control the terminal', async () => {
    const { stderr } = await toolexec.run(['run', 'a\u001b]0;x\u0007\nb']);
    expect(stderr).toMatch(/^toolexec: [^\n\u001b\u0007]+\n$/);
  });
});

describe('toolexec, used wrongly', () => {
  it.each([
    [
      [],
      'Name a command: run, plan, call, chat, mcp, tools, config, policy, repair, journal, waiting, watch, undo, init, try, hook, exec, guard, worker, serve, approve, doctor or completions.',
    ],
    [['rn'], "Unknown command 'rn'. Did you mean run?"],
    [['help', 'rn'], "Unknown command 'rn'. Did you mean run?"],
    [['help', 'tools', 'shwo'], "Unknown command 'shwo'. Did you mean show? See toolexec tools --help."],
    [['tools', 'help', 'shwo'], "Unknown command 'shwo'. Did you mean show? See toolexec tools --help."],
    [['mcp', 'lst'], "Unknown command 'lst'. Did you mean list? See toolexec mcp --help."],
    [['serve', 'tokn', 'list'], "Unknown command 'tokn'. Did you mean token? See toolexec serve --help."],
    [['init', 'mcp', ''], 'Cannot write a project to "": name a directory.'],
    [['tools', 'init', '', '--lang', 'sh'], 'Cannot write a tool to "": name a directory.'],
    [['tools', 'scan', '/nowhere'], 'Cannot scan "/nowhere": it does not exist.'],
    [['run', '--jsn'], "Unknown option '--jsn'. Did you mean --json?"],
    [['run', 'a', 'b'], 'Too many arguments'],
    [['run', '--format', 'yaml'], 'Allowed choices are openai, openai-responses'],
    [['run', '--config'], 'argument missing'],
    [['run', '--config', ''], 'Cannot read the configuration "": name a file.'],
    [['run', '--conversation='], "argument '' is invalid. Write a name that is not empty."],
    [['chat', 'hi', '--conversation', ''], "argument '' is invalid. Write a name that is not empty."],
    [['watch', '--conversation', ''], "argument '' is invalid. Write a name that is not empty."],
    [['undo', '--conversation='], "argument '' is invalid. Write a name that is not empty."],
    [['run', '--yes', '--deny'], "'--yes' cannot be used with option '--deny'"],
    [['run', '--approve', 'x', '--yes'], 'cannot be used with'],
    [['run', '--deny', '--approve', 'x'], 'cannot be used with'],
    [['run', '--defer', '--yes'], "'--defer' cannot be used with option '--yes'"],
    [['call'], "Missing required argument 'tool'."],
  ])('%j: one line', async (args, told) => {
    expectRefused(await toolexec.run(args, { stdin: '[]' }), told);
  });

  it('reports a fault of try as text, even with options after --', async () => {
    const { code, stderr } = await toolexec.run(['try', '--config', 'no.toml', '--', 'true', '--json']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^toolexec: Cannot read the configuration/)]);
  });

  it.each(['tools list', 'init mcp x'])('says that the working directory was removed: %s', async (words) => {
    const gone = join(toolexec.folder, 'gone');
    mkdirSync(gone);
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `rmdir '${gone}'; '${process.execPath}' '${toolexec.main}' ${words}`],
      { cwd: gone, env: toolexec.environment(), encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^toolexec: Cannot work here: the current directory was removed\.[^\n]*\n$/),
    ]);
  });

  it.skipIf(process.platform !== 'linux')(
    'bug: a root whose path is not UTF-8 was no directory',
    async () => {
      const latin1 = Buffer.concat([Buffer.from(`${toolexec.folder}/caf`), Buffer.from([0xe9])]);
      mkdirSync(latin1);
      const { status, stderr } = spawnSync(
        'sh',
        [
          '-c',
          `cd '${toolexec.folder}'/caf*; '${process.execPath}' '${toolexec.main}' call glob '{"pattern":"*"}'`,
        ],
        { cwd: toolexec.folder, env: toolexec.environment(), encoding: 'utf8' },
      );
      expect([status, stderr]).toEqual([2, expect.stringContaining('its path is not UTF-8.')]);
      rmdirSync(latin1);
    },
  );

  it('names a root that does not exist', async () => {
    expectRefused(await toolexec.run(['run', '--root', 'nowhere'], { stdin: '[]' }), 'nowhere');
  });

  it('refuses --approve with an unknown call', async () => {
    const stdin = JSON.stringify(message(['read_file', { path: 'a' }]));
    expectRefused(await toolexec.run(['run', '--approve', 'toolu_2'], { stdin }), 'Its calls: toolu_1.');
  });

  it('refuses a journal inside a root, even behind a link that does not exist yet', async () => {
    mkdirSync(join(toolexec.root, 'deep'));
    for (const journal of ['j.db', 'deep/new/j.db', join(toolexec.root, '..', 'root', 'j.db')]) {
      expectRefused(
        await toolexec.run(['run', '--journal', journal], { stdin: '[]' }),
        'lies inside the root',
      );
    }
  });

  it('refuses the default journal if the root contains the state directory', async () => {
    const ran = await toolexec.run(['run', '--root', toolexec.folder], { stdin: '[]' });
    expectRefused(ran, 'lies inside the root', '--journal');
  });

  it('shows the stack with TOOLEXEC_DEBUG=1 and only then', async () => {
    const { code, stderr } = await toolexec.run(['run', 'no.json'], { env: { TOOLEXEC_DEBUG: '1' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/\n\s+at /);
  });
});

describe('toolexec --help', () => {
  it('shows examples first, for toolexec and for each command, on standard output', async () => {
    for (const args of [
      ['--help'],
      ['run', '--help'],
      ['plan', '--help'],
      ['call', '--help'],
      ['help', 'run'],
    ]) {
      const { code, stdout, stderr } = await toolexec.run(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Examples:\n {2}/);
      expect(stdout).toMatch(/\nUsage: toolexec/);
    }
  });

  it('has a version', async () => {
    const { code, stdout } = await toolexec.run(['--version']);
    expect({ code, isVersion: /^\d+\.\d+\.\d+\n$/.test(stdout) }).toEqual({ code: 0, isVersion: true });
  });
});
