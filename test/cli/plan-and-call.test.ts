import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

describe('toolexec plan', () => {
  it('says what would happen to every call, in order, and changes nothing', async () => {
    const calls = [
      { id: 'a', name: 'read_file', args: { path: 'x' } },
      { id: 'b', name: 'bash', args: 'no object' },
      { id: 'c', name: 'bash', args: { command: 'touch one' } },
      { id: 'd', name: 'read_file', args: { path: '../x' } },
    ];
    const file = toolexec.json('r.json', calls);
    const { code, stdout, stderr } = await toolexec.run(['plan', file, '--json', '--yes']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const plan = JSON.parse(stdout) as {
      calls: { callId: string; disposition: string; result?: { error: { code: string } } }[];
    };
    expect(
      plan.calls.map(({ callId, disposition, result }) => [callId, disposition, result?.error.code]),
    ).toEqual([
      ['a', 'execute_now', undefined],
      ['b', 'pre_resolved', 'bad_args'],
      ['c', 'requires_confirmation', undefined],
      ['d', 'pre_resolved', 'sandbox_violation'],
    ]);
    expect(existsSync(toolexec.state)).toBe(false);
    expect(existsSync(join(toolexec.root, 'one'))).toBe(false);
  });

  it('prints lines for people on standard output', async () => {
    const stdin = JSON.stringify(message(['bash', { command: 'echo \u001b[31mhi' }]));
    const { code, stdout } = await toolexec.run(['plan'], { stdin });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^requires_confirmation {2}bash \(toolu_1\) {2}(?:low|high) risk · (?:not )?contained: .*\n {2}summary {2}Run command: echo .*\n {2}effect {3}run echo .*\n {2}reason {3}.+\n {3}│ echo ‹U\+001B›\[31mhi\n$/,
    );
    expect(stdout).not.toContain('\u001b');
  });

  it('refuses bad input like run', async () => {
    const { code, stderr } = await toolexec.run(['plan', 'none.json']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^toolexec: Cannot read "none.json"/),
    });
  });
});

describe('toolexec call', () => {
  it('writes the output unchanged', async () => {
    toolexec.write('root/a.txt', 'alpha\nbeta');
    const { code, stdout } = await toolexec.run(['call', 'read_file', '{"path":"a.txt"}']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'alpha\nbeta' });
  });

  it('writes a line for a picture, and the picture as base64 with --json', async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1');
    toolexec.write('root/b.png', png);
    const { stdout } = await toolexec.run(['call', 'read_file', '{"path":"b.png"}']);
    expect(stdout).toBe('[image image/png, 9 bytes]');
    const json = await toolexec.run(['call', 'read_file', '{"path":"b.png"}', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { content: [{ type: 'image', mediaType: 'image/png', data: png.toString('base64') }] },
    ]);
  });

  it.each([[['-']], [[]]])('takes the arguments from standard input: %j', async (args) => {
    toolexec.write('root/a.txt', 'alpha\n');
    const { stdout } = await toolexec.run(['call', 'read_file', ...args], { stdin: '{"path":"a.txt"}' });
    expect(stdout).toBe('alpha\n');
  });

  it('writes a native result in an array with --json', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const { stdout } = await toolexec.run(['call', 'read_file', '{"path":"a.txt"}', '--json']);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ tool_name: 'read_file', success: true, output: 'alpha\n' }),
    ]);
  });

  it('runs every time it is called', async () => {
    for (const times of ['1', '2']) {
      const { stdout } = await toolexec.run([
        'call',
        'bash',
        '{"command":"echo once >> count; wc -l < count"}',
        '--yes',
      ]);
      expect(stdout.trim()).toBe(times);
    }
  });

  it('needs the same approval as run: exits 3 without a person to ask', async () => {
    const { code, stdout } = await toolexec.run(['call', 'bash', '{"command":"echo hi"}']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  });

  it('exits 1 when the tool fails, says why on standard error, and keeps the output', async () => {
    const { code, stdout, stderr } = await toolexec.run([
      'call',
      'bash',
      '{"command":"echo before; exit 4"}',
      '--yes',
    ]);
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 1, stdout: 'before' });
    expect(stderr).toMatch(/✗ bash .* exit code 4/);
  });

  it('suggests the intended tool', async () => {
    const { code, stderr } = await toolexec.run(['call', 'raed_file', '{}']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/unknown_tool.*read_file/);
  });

  it.each([
    ['{"path":', 'line 1, column 9'],
    ['[1]', 'a JSON object was expected'],
    ['"x"', 'a JSON object was expected'],
    ['{"a":1,"a":2}', 'column'],
    ['path=x', 'Cannot read the arguments'],
  ])('refuses the arguments %s in one line', async (json, told) => {
    const { code, stderr } = await toolexec.run(['call', 'read_file', json]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^toolexec: [^\n]+\n$/);
    expect(stderr).toContain(told);
  });
});

describe('toolexec --config', () => {
  it('allows more, sets limits, and sets roots relative to the file', async () => {
    toolexec.write('project/src/a.txt', 'alpha\n');
    const config = toolexec.write(
      'project/toolexec.toml',
      '[tools.sandbox]\nallowed_roots = ["src"]\n[tools.approval]\ndenylist = []\n[tools.read_file]\nmax_file_read_bytes = 3\n',
    );
    const calls = message(['run_command', { command: 'cat a.txt' }], ['read_file', { path: 'a.txt' }]);
    const { code, stdout } = await toolexec.run([
      'run',
      toolexec.json('r.json', calls),
      '--config',
      config,
      '--yes',
      '--format',
      'native',
    ]);
    expect(code).toBe(1);
    const results = JSON.parse(stdout) as { success: boolean; output: string; error?: { message: string } }[];
    expect(results[0]).toMatchObject({ success: true, output: 'alpha\n' });
    expect(results[1]?.success).toBe(false);
  });

  it('lists pending calls in mode parse_only, says how to answer them by hand, and runs nothing', async () => {
    const config = toolexec.write('c.toml', '[tools]\nmode = "parse_only"\n');
    const file = toolexec.json('r.json', message(['bash', { command: "echo 'it''s' > one" }]));
    const { code, stdout, stderr } = await toolexec.run([
      'run',
      file,
      '--config',
      config,
      '--yes',
      '--format',
      'native',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        error: expect.objectContaining({ code: 'tools_disabled' }),
        metadata: { pending: true },
      }),
    ]);
    expect(stderr).toContain(`toolexec call bash '{"command":"echo '\\''it'\\'''\\''s'\\'' > one"}'`);
    expect(existsSync(join(toolexec.root, 'one'))).toBe(false);
  });

  it('refuses absolute paths if it says so', async () => {
    const path = toolexec.write('root/a.txt', 'alpha\n');
    const config = toolexec.write('c.toml', '[tools.sandbox]\nallow_absolute = false\n');
    const { code } = await toolexec.run(['call', 'read_file', JSON.stringify({ path }), '--config', config]);
    expect(code).toBe(1);
  });

  it.each([
    ['[tools]\nmode = "auto"', 'tools.mode must be one of "disabled", "parse_only", "enabled", not "auto"'],
    ['[tools]\nmode = ""', 'tools.mode must be one of'],
    ['[tools]\nmod = "enabled"', 'tools.mod is not known. Did you mean tools.mode?'],
    ['[tools\n', ':1:'],
    ['[tools.approval]\ndenylist = ["run command"]', 'run command'],
    ['[tools.sandbox]\nallowed_roots = ["nowhere"]', 'nowhere'],
  ])('refuses %j in one line that names it', async (text, told) => {
    const config = toolexec.write('c.toml', text);
    const { code, stderr } = await toolexec.run(['run', '--config', config], { stdin: '[]' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^toolexec: [^\n]+\n$/);
    expect(stderr).toContain(told);
  });

  it('refuses a configuration that cannot be read', async () => {
    const { code, stderr } = await toolexec.run(['run', '--config', 'none.toml'], { stdin: '[]' });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^toolexec: Cannot read the configuration "none.toml": it does not exist/,
      ),
    });
  });
});
