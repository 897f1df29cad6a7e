import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { message, useToolexec } from './toolexec.js';

const WHY_NOT = await whyNoTransactions();
const toolexec = useToolexec();

const TOUCH_TWO = message(['bash', { command: 'touch one' }], ['bash', { command: 'touch two' }]);

function touched(): string[] {
  return ['one', 'two'].filter((name) => existsSync(join(toolexec.root, name)));
}

describe('toolexec run, when calls need approval', () => {
  it('refuses them without a person to ask, runs the others, and exits 3', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const calls = message(
      ['bash', { command: 'touch one' }],
      ['read_file', { path: 'a.txt' }],
      ['read_file', { path: 'none' }],
    );
    const { code, stdout, stderr } = await toolexec.run([
      'run',
      toolexec.json('r.json', calls),
      '--format',
      'native',
    ]);
    expect(code).toBe(3);
    const results = JSON.parse(stdout) as { error?: { code: string } }[];
    expect(results.map(({ error }) => error?.code)).toEqual([
      'approval_unavailable',
      undefined,
      'execution_failed',
    ]);
    expect(stderr).toMatch(/Run it again with --yes, --approve ID or --deny/);
    expect(touched()).toEqual([]);
  });

  it('asks again about undecided calls, and repeats no answered call', {
    tags: ['soak'],
  }, async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'a.txt' }], ['bash', { command: 'touch one' }]),
    );
    expect((await toolexec.run(['run', file])).code).toBe(3);
    toolexec.write('root/a.txt', 'beta\n');
    const { code, stdout, stderr } = await toolexec.run(['run', file, '--yes', '--format', 'native']);
    expect(code).toBe(0);
    expect(touched()).toEqual(['one']);
    const results = JSON.parse(stdout) as { output: string }[];
    expect(results[0]?.output).toBe('alpha\n');
    expect(stderr).toMatch(/1 of 2 calls were delivered before/);
  });

  it('runs all with --yes', async () => {
    const { code } = await toolexec.run(['run', toolexec.json('r.json', TOUCH_TWO), '--yes']);
    expect(code).toBe(0);
    expect(touched()).toEqual(['one', 'two']);
  });

  it('runs the calls that --approve names, and denies the others', async () => {
    const file = toolexec.json('r.json', TOUCH_TWO);
    const { code, stdout } = await toolexec.run(['run', file, '--approve', 'toolu_2', '--format', 'native']);
    expect(code).toBe(1);
    const results = JSON.parse(stdout) as { error?: { code: string } }[];
    expect(results.map(({ error }) => error?.code)).toEqual(['user_denied', undefined]);
    expect(touched()).toEqual(['two']);
  });

  it('takes several ids for one --approve, before the file', { tags: ['soak'] }, async () => {
    const { code } = await toolexec.run([
      'run',
      '--approve',
      'toolu_1',
      'toolu_2',
      toolexec.json('r.json', TOUCH_TWO),
    ]);
    expect(code).toBe(0);
    expect(touched()).toEqual(['one', 'two']);
  });

  it('denies all with --deny', async () => {
    const { code, stdout } = await toolexec.run([
      'run',
      toolexec.json('r.json', TOUCH_TWO),
      '--deny',
      '--format',
      'native',
    ]);
    expect(code).toBe(1);
    const results = JSON.parse(stdout) as { error?: { code: string } }[];
    expect(results.map(({ error }) => error?.code)).toEqual(['user_denied', 'user_denied']);
    expect(touched()).toEqual([]);
  });

  it('does not lift the denylist with --yes', async () => {
    const file = toolexec.json('r.json', message(['run_command', { command: 'touch one' }]));
    const { code, stdout } = await toolexec.run(['run', file, '--yes', '--format', 'native']);
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as { error: { code: string } }[])[0]?.error.code).toBe('denylisted');
    expect(touched()).toEqual([]);
  });
});

const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

// Needs `script` of util-linux, which gives a program a terminal.
describe.skipIf(!hasScript)('toolexec run, at a terminal', () => {
  it('shows every call at once, and runs the ones that the person picks', { tags: ['soak'] }, async () => {
    const file = toolexec.json('r.json', TOUCH_TWO);
    const { code, screen } = await atTerminal(`run '${file}'`, [
      ['Run these?', '7'],
      ['There is no call 7.', '2'],
      ['(selected: 2', '\r'],
    ]);
    expect(code).toBe(1);
    expect(touched()).toEqual(['two']);
    expect(screen).toMatch(
      /2 calls need your approval[\s\S]*1\. bash \(toolu_1\).*(?:medium risk|HIGH RISK)[\s\S]*touch one[\s\S]*2\. bash \(toolu_2\)/,
    );
    expect(screen).toMatch(/⊘.*bash \(toolu_1\).*user_denied/);
    expect(screen).toMatch(/✓.*bash \(toolu_2\)/);
  });

  it('asks at the terminal even if the response comes from a pipe', async () => {
    const file = toolexec.json('r.json', TOUCH_TWO);
    const { code } = await atTerminal(`run - < '${file}' > '${join(toolexec.folder, 'out')}'`, [
      ['Run these?', 'y'],
    ]);
    expect(code).toBe(0);
    expect(touched()).toEqual(['one', 'two']);
  });

  it('denies all if the person gives no answer (Ctrl-D)', { tags: ['soak'] }, async () => {
    const file = toolexec.json('r.json', TOUCH_TWO);
    const { code } = await atTerminal(`run '${file}'`, [['Run these?', '\u0004']]);
    expect(code).toBe(1);
    expect(touched()).toEqual([]);
  });

  it('cancels on Ctrl-C, and still gives the results', async () => {
    const out = join(toolexec.folder, 'out');
    const file = toolexec.json('r.json', TOUCH_TWO);
    const { code } = await atTerminal(`run '${file}' --format native > '${out}'`, [['Run these?', '\u0003']]);
    expect(code).toBe(130);
    const results = JSON.parse(readFileSync(out, 'utf8')) as { error: { code: string } }[];
    expect(results.map(({ error }) => error.code)).toEqual(['cancelled', 'cancelled']);
    expect(touched()).toEqual([]);
  });

  it('shows the whole command if it is longer than its summary', { tags: ['soak'] }, async () => {
    const file = toolexec.json(
      'r.json',
      message(['bash', { command: `echo ${'x'.repeat(300)}; touch one` }]),
    );
    const { screen } = await atTerminal(`run '${file}'`, [['Run these?', 'n']]);
    expect(screen).toMatch(/x; touch one/);
  });

  it('does not ask in continuous integration', async () => {
    const file = toolexec.json('r.json', TOUCH_TWO);
    const { code, screen } = await atTerminal(`run '${file}'`, [], { CI: 'true' });
    expect(code).toBe(3);
    expect(screen).not.toContain('Run these?');
  });

  it('shows the output of a running command, in colours', { tags: ['soak'] }, async () => {
    const file = toolexec.json('r.json', message(['bash', { command: 'echo first; sleep 3; echo last' }]));
    const { screen } = await atTerminal(`run '${file}' --yes`, []);
    expect(screen).toMatch(/…[^\n]* bash [^\n]* · first/u);
    expect(screen).toContain('\u001b[32m✓\u001b[39m bash');
  });

  eachOf<[string, boolean]>(
    [
      ['CI=1', true],
      ['NO_COLOR=1', false],
      ['TERM=dumb', false],
    ],
    1,
  )('respects %s, and rewrites no line', async (variable, coloured) => {
    const [name = '', value = ''] = variable.split('=');
    const file = toolexec.json('r.json', message(['bash', { command: 'echo first; sleep 0.3' }]));
    const { screen } = await atTerminal(`run '${file}' --yes`, [], { [name]: value });
    expect(screen.includes('\u001b[32m')).toBe(coloured);
    expect(screen).not.toContain('\u001b[0J');
  });
});

describe.skipIf(!hasScript || WHY_NOT !== '')(`a question about changes, at a terminal${WHY_NOT}`, () => {
  it('bug: proposed a rule that did not cover the changes', async () => {
    toolexec.write('root/y', 'x');
    chmodSync(toolexec.write('.config/toolexec/config.toml', '[tools]\nprofile = "contained"\n'), 0o600);
    const file = toolexec.json('r.json', message(['bash', { command: 'cp y Makefile' }]));
    const { code } = await atTerminal(`run '${file}'`, [
      ['Keep these changes?', 'w'],
      ['y writes it, n does not:', 'y'],
      ['Keep these changes?', 'y'],
    ]);
    expect(code).toBe(0);
    toolexec.write('root/y', 'changed');
    const again = await toolexec.run(['run', file, '--again']);
    expect([again.code, readFileSync(join(toolexec.root, 'Makefile'), 'utf8')]).toEqual([0, 'changed']);
  });
});

/** Runs the command in a terminal; each step waits for a text on the screen, then types. */
async function atTerminal(
  command: string,
  steps: readonly (readonly [awaited: string, typed: string])[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly screen: string }> {
  const child = spawn(
    'script',
    ['-qec', `'${process.execPath}' '${toolexec.main}' ${command}`, '/dev/null'],
    {
      cwd: toolexec.root,
      env: toolexec.environment({ TERM: 'xterm', ...env }),
    },
  );
  let screen = '';
  let from = 0;
  const waiting = [...steps];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [step] = waiting;
    const found = step === undefined ? -1 : screen.indexOf(step[0], from);
    if (step === undefined || found === -1) return;
    from = found + step[0].length;
    waiting.shift();
    child.stdin.write(step[1]);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, screen };
}
