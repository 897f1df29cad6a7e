import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/guard/agents.js';
import { unprivileged } from '../../src/platform/fixtures/unprivileged.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { ended, Toolexec, useToolexec } from '../cli/toolexec.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { type AgentSetting, type Answer, run, SampleAgent } from './sample-agent.js';

const WHY_NOT = await whyNoTransactions();
const toolexec = useToolexec();

const inRoot = (name: string): string => join(toolexec.root, name);
const textOf = (name: string): string => readFileSync(inRoot(name), 'utf8');

/** The person's file, so that it may loosen settings. */
function configure(text: string): void {
  toolexec.write('.config/toolexec/config.toml', text);
}

const CONTAINED = '[tools]\nprofile = "contained"\n';
const FILES = '[tools.approval]\nallowlist = ["read_file", "write_file", "edit_file"]\n';

/**
 * @param ownProcess each hook is a separate process, as with real agents; otherwise they share one, which takes a tenth
 *   of the time
 */
function agent(more: Partial<AgentSetting> = {}, ownProcess = false): SampleAgent {
  const { agent: name = 'claude-code' } = more;
  const hook = (stdin: string): Promise<Answer> =>
    toolexec.run(['hook', '--for', name], { stdin, ownProcess });
  return new SampleAgent({ agent: name, hook, cwd: toolexec.root, env: toolexec.environment(), ...more });
}

const EACH_AGENT = AGENTS.map((name): [typeof name] => [name]);

describe.skipIf(WHY_NOT !== '')(`commands of other agents${WHY_NOT}`, () => {
  eachOf(EACH_AGENT, 1)(
    'of %s run in a transaction, with the same output and exit code',
    async (name) => {
      configure(`${CONTAINED}[[tools.approval.rules]]\ndecision = "allow"\ncommand = "echo *"\n`);
      const sample = agent({ agent: name }, true);
      const first = await sample.bash('echo out >made; echo shown', { description: 'kept' });
      // If nothing is known about rewrites, the model gets the line to run.
      const done = first.ran
        ? first
        : await sample.bash(
            first.text
              .slice(first.text.indexOf(': ') + 2)
              .split('instead: ')
              .at(-1) ?? '',
          );
      expect(done).toMatchObject({ ran: true, text: 'shown\n', code: 0 });
      expect(textOf('made')).toBe('out\n');
      const failing = await sample.bash('echo shown; exit 7');
      expect(failing.ran ? failing.code : 7).toBe(7);
      expect((await toolexec.run(['journal', 'list'])).stdout).toContain('session-1');
      expect((await toolexec.run(['undo', '--conversation', 'session-1'])).code).toBe(0);
      expect(existsSync(inRoot('made'))).toBe(false);
    },
    60_000,
  );

  it('are denied with the line to run where only a transaction makes them allowed, until a rewrite has arrived', async () => {
    configure(CONTAINED);
    const sample = agent();
    const denied = await sample.bash('touch made');
    expect(denied).toMatchObject({
      ran: false,
      text: expect.stringMatching(/Run exactly this line instead: .* exec --call \S+ -- 'touch made'$/),
    });
    expect(existsSync(inRoot('made'))).toBe(false);
    expect(await sample.bash(denied.text.split('instead: ')[1] ?? '')).toMatchObject({ ran: true, code: 0 });
    expect(existsSync(inRoot('made'))).toBe(true);
  });

  it('are rewritten once this version of the agent has run a rewrite, and never where it ignores them', {
    tags: ['soak'],
  }, async () => {
    const rule = '[[tools.approval.rules]]\ndecision = "allow"\ncommand = "echo one"\n';
    configure(`${CONTAINED}${rule}`);
    const obedient = agent();
    expect(await obedient.bash('echo one')).toMatchObject({ ran: true, text: 'one\n' });
    expect(await obedient.bash('touch contained')).toMatchObject({ ran: true, code: 0 });
    expect((await toolexec.run(['guard', 'status', '--json'])).stdout).toContain('"arrival":"arrives"');
    rmSync(toolexec.state, { recursive: true });
    const disobedient = agent({ ignoresRewrites: true });
    expect(await disobedient.bash('echo one')).toMatchObject({ ran: true, text: 'one\n' });
    expect((await toolexec.run(['guard', 'status', '--json'])).stdout).toContain('"arrival":"ignored"');
    expect(await disobedient.bash('touch bare')).toMatchObject({ ran: false });
    expect(existsSync(inRoot('bare'))).toBe(false);
  });

  it('that are cd alone, into the project, run as they are, because the directory would not last in a transaction', async () => {
    configure(CONTAINED);
    symlinkSync('/etc', inRoot('away'));
    const others = ['cd', 'cd /etc', 'cd ..', 'cd away', 'cd $(touch made)', 'cd sub; touch made'];
    for (const command of ['cd sub', ...others]) {
      const { ran } = await agent().bash(command);
      expect([command, ran]).toEqual([command, command === 'cd sub']);
    }
    expect(existsSync(inRoot('made'))).toBe(false);
  });

  it('that change files without consent, or protected files, keep nothing and say so', {
    tags: ['soak'],
  }, async () => {
    configure(CONTAINED);
    mkdirSync(inRoot('.git/hooks'), { recursive: true });
    const sample = agent();
    for (const [command, why] of [
      ['echo all: >Makefile; echo x >ok', /Makefile/],
      ['echo x >.git/hooks/pre-commit; echo x >ok', /pre-commit/],
    ] as const) {
      const { text } = await sample.bash(command);
      const done = await sample.bash(text.split('instead: ')[1] ?? '');
      expect(done).toMatchObject({ ran: true, code: 1, text: expect.stringMatching(why) });
      expect(existsSync(inRoot('ok'))).toBe(false);
    }
  });

  it('of another session, of another text or of no hook are not run by exec', async () => {
    configure(CONTAINED);
    const { text } = await agent().bash('touch made');
    const line = text.split('instead: ')[1] ?? '';
    const env = toolexec.environment();
    for (const other of [line.replace('touch made', 'touch else'), line.replace(/--call \S+/, '--call none')])
      expect(await run(other, '', { cwd: toolexec.root, env })).toMatchObject({ code: 2, stdout: '' });
    expect((await run(line, '', { cwd: toolexec.root, env })).code).toBe(0);
    rmSync(inRoot('made'));
    const again = await run(line, '', { cwd: toolexec.root, env });
    expect(again.stderr).toContain('this call has run before');
    expect(existsSync(inRoot('made'))).toBe(false);
  });

  it('that are killed have changed nothing, run once, and hold up no later one', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    configure(CONTAINED);
    const sample = agent();
    const { text } = await sample.bash('echo begun >>log; sleep 30; echo ended >>log');
    const line = text.split('instead: ')[1] ?? '';
    const env = toolexec.environment();
    const child = spawn('bash', ['-c', `exec ${line}`], { cwd: toolexec.root, env, stdio: 'ignore' });
    await pause(4000);
    child.kill('SIGKILL');
    await pause(1500);
    expect(existsSync(inRoot('log'))).toBe(false);
    const again = await run(line, '', { cwd: toolexec.root, env });
    expect(again.stderr).toMatch(/this call has run before/);
    expect(existsSync(inRoot('log'))).toBe(false);
    const next = await sample.bash('touch next');
    const done = next.ran ? next : await sample.bash(next.text.split('instead: ')[1] ?? '');
    expect(done.code).toBe(0);
    expect((await toolexec.run(['journal', 'verify'])).code).toBe(0);
  });

  it('run in the background only as they are allowed to', { tags: ['soak'] }, async () => {
    configure(CONTAINED);
    expect(await agent().bash('sleep 0', { run_in_background: true })).toMatchObject({
      ran: false,
      text: expect.stringMatching(/in the background it is not contained/),
    });
  });
});

describe('calls of other agents', () => {
  eachOf(EACH_AGENT, 1)(
    'of %s that destroy, or leave the roots, are denied with the reason',
    async (name) => {
      const sample = agent({ agent: name, person: 'yes' });
      expect(await sample.bash('rm -rf /')).toMatchObject({
        ran: false,
        text: expect.stringContaining('dangerous'),
      });
      expect(await sample.write('/etc/toolexec-test', 'x')).toMatchObject({
        ran: false,
        text: expect.stringContaining('root'),
      });
      expect(await sample.write(inRoot('.env'), 'x')).toMatchObject({
        ran: false,
        text: expect.stringContaining('.env'),
      });
    },
  );

  eachOf(EACH_AGENT, 1)('of %s that change files are recorded, listed and undone', async (name) => {
    configure(FILES);
    writeFileSync(inRoot('a.txt'), 'one\n');
    const sample = agent({ agent: name });
    expect(await sample.write(inRoot('a.txt'), 'two\n')).toMatchObject({ ran: true });
    expect(await sample.edit(inRoot('a.txt'), 'two', 'three')).toMatchObject({ ran: true });
    expect(await sample.write(inRoot('deep/er/new.txt'), 'x')).toMatchObject({ ran: true });
    const listed = await toolexec.run(['journal', 'list', '--json']);
    expect(listed.stdout.match(/"session-1"/g)).toHaveLength(3);
    expect(await toolexec.run(['undo', '--conversation', 'session-1', '--since', '10m'])).toMatchObject({
      code: 0,
    });
    expect([textOf('a.txt'), existsSync(inRoot('deep'))]).toEqual(['one\n', false]);
  });

  it('that leave another text than expected are undone too', { tags: ['soak'] }, async () => {
    configure(FILES);
    writeFileSync(inRoot('a.txt'), 'one\n');
    const sample = agent();
    await sample.call('Write', { file_path: inRoot('a.txt'), content: 'two' }, async () => {
      writeFileSync(inRoot('a.txt'), 'two, formatted\n');
      return { ran: true, text: '' };
    });
    expect((await toolexec.run(['undo', '--conversation', 'session-1'])).code).toBe(0);
    expect(textOf('a.txt')).toBe('one\n');
  });

  it('that the person refuses, or whose end is never reported, are recorded with their known state', async () => {
    const sample = agent({ person: 'no' });
    writeFileSync(inRoot('a.txt'), 'one\n');
    expect(await sample.write(inRoot('a.txt'), 'two\n')).toMatchObject({ ran: false });
    await sample.event('Stop');
    expect((await toolexec.run(['journal', 'list', '--json'])).stdout).toContain('cancelled');
    configure(FILES);
    // The agent dies between the two.
    const id = {
      tool_use_id: 'toolu_dead',
      tool_name: 'Write',
      tool_input: { file_path: inRoot('a.txt'), content: 'two\n' },
    };
    await agent().send({ hook_event_name: 'PreToolUse', ...id });
    writeFileSync(inRoot('a.txt'), 'two\n');
    await agent().event('SessionEnd');
    expect((await toolexec.run(['journal', 'show', 'toolu_dead'])).stdout).toContain('outcome_unknown');
    expect((await toolexec.run(['undo', 'toolu_dead'])).code).toBe(0);
    expect(textOf('a.txt')).toBe('one\n');
  });

  eachOf<[string, string]>(
    [
      ['no JSON', '{"hook_event_name"'],
      ['an empty text', ''],
      ['a list', '[]'],
      ['an unknown event', '{"hook_event_name":"Whatever","session_id":"s","cwd":"/"}'],
      ['no tool', '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/"}'],
      [
        'an input that is no object',
        '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":"ls"}',
      ],
      [
        'a command that is no text',
        '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":1}}',
      ],
      [
        'a key given twice',
        '{"hook_event_name":"Stop","hook_event_name":"PreToolUse","session_id":"s","cwd":"/"}',
      ],
    ],
    1,
  )('in a document with %s are stopped by exit code 2, with the reason', async (_, text) => {
    const ran = await toolexec.run(['hook'], { stdin: text });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toMatch(/^toolexec: not let through: .{10,}\n$/);
  });

  it('are stopped where the configuration cannot be read, or the record not be written', async () => {
    configure('[tools\n');
    const sample = agent({ person: 'yes' });
    expect(await sample.write(inRoot('a'), 'x')).toMatchObject({
      ran: false,
      text: expect.stringContaining('configuration'),
    });
    configure(FILES);
    writeFileSync(toolexec.state, 'a file in its place');
    expect(await sample.write(inRoot('a'), 'x')).toMatchObject({
      ran: false,
      text: expect.stringContaining('not let through'),
    });
    expect(await sample.bash('echo x')).toMatchObject({ ran: false });
    expect(existsSync(inRoot('a'))).toBe(false);
  });

  const asDocument = (tool_name: string, tool_input: object): string =>
    JSON.stringify({
      ...{ session_id: 's', cwd: toolexec.root, hook_event_name: 'PreToolUse', tool_use_id: 't1' },
      ...{ tool_name, tool_input },
    });

  it('bug: were never answered where the agent leaves standard input open', async () => {
    const child = toolexec.start(['hook', '--for', 'claude-code']);
    child.stdin.write(asDocument('Read', { file_path: inRoot('.env') }));
    const { code, stdout } = await ended(child);
    child.stdin.destroy();
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { hookSpecificOutput: { permissionDecision: 'deny' } },
    ]);
  });

  it.skipIf(WHY_NOT !== '')('are stopped where the hook has no answer in time', async () => {
    const stdin = asDocument('Bash', { command: 'true' });
    const hook = ['hook', '--for', 'claude-code', '--timeout'];
    const late = await toolexec.run([...hook, '0.001'], { stdin, ownProcess: true });
    expect(late).toMatchObject({ code: 2, stdout: '' });
    expect(late.stderr).toMatch(/^toolexec: not let through: there was no answer within 0\.001 s\n$/);
    expect(await toolexec.run([...hook, '500'], { stdin })).toMatchObject({ code: 0, stderr: '' });
    expect(await toolexec.run([...hook, '-1'], { stdin })).toMatchObject({ code: 2, stdout: '' });
  });

  it('are denied with --no-ask where the agent should ask: some versions take that for yes', async () => {
    const hook = ['hook', '--for', 'claude-code'];
    const decision = async (...more: string[]): Promise<unknown> => {
      const { stdout } = await toolexec.run([...hook, ...more], { stdin: asDocument('Unknown', {}) });
      return JSON.parse(stdout).hookSpecificOutput.permissionDecision;
    };
    expect([await decision(), await decision('--no-ask')]).toEqual(['ask', 'deny']);
    const file = inRoot('.claude/settings.json');
    await toolexec.run(['guard', 'install', 'claude-code', '--no-ask', '--yes']);
    const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
    const lineOf = (event: string): string => hooks[event][0].hooks[0].command;
    expect(lineOf('PreToolUse')).toMatch(/ hook --for claude-code --no-ask \|\| eval '.*exit 2'$/);
    expect(lineOf('PostToolUse')).toMatch(/ hook --for claude-code$/);
    await toolexec.run(['guard', 'install', 'claude-code', '--yes']);
    expect(readFileSync(file, 'utf8')).not.toContain('--no-ask');
    await toolexec.run(['guard', 'remove', 'claude-code', '--yes']);
    expect(existsSync(file)).toBe(false);
  });

  it.each(['TodoWrite', 'StructuredOutput', 'ListMcpResourcesTool', 'update_topic', 'invoke_agent'])(
    'of %s, which touches only the agent, are left to the agent',
    async (tool_name) => {
      const { code, stdout } = await agent().send({
        hook_event_name: 'PreToolUse',
        tool_name,
        tool_input: {},
        tool_use_id: 'x',
      });
      expect([code, stdout]).toEqual([0, '']);
    },
  );

  it('of a skill are stopped where the hook cannot answer, as calls are', async () => {
    const event = { hook_event_name: 'PreSkillShellCommand', tool_name: 'Bash', tool_use_id: 'x' };
    expect(await agent().send({ ...event, tool_input: {} })).toMatchObject({ code: 2, stdout: '' });
  });

  it('of tools that are not known are asked about', async () => {
    for (const tool of ['mcp__server__tool', 'Unheard_of'])
      expect(await agent().call(tool, { a: 1 }, async () => ({ ran: true, text: '' }))).toMatchObject({
        ran: false,
      });
  });
});

describe('toolexec guard', () => {
  const file = (name: string): string =>
    inRoot(
      {
        'claude-code': '.claude/settings.json',
        codex: '.codex/hooks.json',
        'gemini-cli': '.gemini/settings.json',
      }[name] ?? '',
    );

  eachOf(EACH_AGENT, 1)(
    'installs for %s, keeps what is there, is idempotent, and removes to the byte',
    async (name) => {
      const before =
        '{\n    "description": "x",\n    "hooks": {\n        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]\n    }\n}\n';
      mkdirSync(join(file(name), '..'), { recursive: true });
      writeFileSync(file(name), before);
      expect(await toolexec.run(['guard', 'install', name])).toMatchObject({ code: 3 });
      expect(readFileSync(file(name), 'utf8')).toBe(before);
      const installed = await toolexec.run(['guard', 'install', name, '--yes']);
      expect(installed).toMatchObject({ code: 0, stderr: expect.stringContaining('+ ') });
      const after = readFileSync(file(name), 'utf8');
      expect(JSON.parse(after)).toMatchObject({
        description: 'x',
        hooks: {
          PreToolUse: expect.arrayContaining([
            { matcher: 'Bash', hooks: [{ type: 'command', command: 'mine' }] },
          ]),
        },
      });
      expect(after).toContain(`hook --for ${name}`);
      expect(await toolexec.run(['guard', 'install', name, '--yes'])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('already'),
      });
      expect(readFileSync(file(name), 'utf8')).toBe(after);
      expect((await toolexec.run(['guard', 'status'])).stdout).toContain(file(name));
      const tested = await toolexec.run(['guard', 'test']);
      expect(tested.stdout).toMatch(/^(?:ok {2}.*\n){4}$/);
      expect(tested.code).toBe(0);
      expect((await toolexec.run(['guard', 'remove', name, '--yes'])).code).toBe(0);
      expect(readFileSync(file(name), 'utf8')).toBe(before);
      expect((await toolexec.run(['guard', 'test'])).code).toBe(2);
    },
  );

  /** The line before a call, as in the settings of Claude Code. */
  const lineBefore = (): string => {
    const { hooks } = JSON.parse(readFileSync(file('claude-code'), 'utf8'));
    return hooks.PreToolUse[0].hooks[0].command;
  };

  it('writes a line that stops the call even if the hook is killed or missing', async () => {
    await toolexec.run(['guard', 'install', 'claude-code', '--yes']);
    const line = lineBefore();
    const at = { cwd: toolexec.root, env: toolexec.environment() };
    const dying = toolexec.write('dying', '#!/bin/sh\nkill -9 $$\n');
    chmodSync(dying, 0o755);
    for (const program of [dying, '/no/such/program'])
      expect(await run(line.replace(process.execPath, program), '', at)).toMatchObject({ code: 2 });
    const { hooks } = JSON.parse(readFileSync(file('claude-code'), 'utf8'));
    expect(hooks.Stop[0].hooks[0].command).toBe(line.replace(/ \|\| eval .*/, ''));
  });

  it.for(['sh', 'bash', 'zsh', 'fish'])(
    'bug: a hook that was killed did not stop Codex where the shell writes no text, nor if its document was not read: %s',
    async (shell, { skip }) => {
      await toolexec.run(['guard', 'install', 'codex', '--yes']);
      const { hooks } = JSON.parse(readFileSync(file('codex'), 'utf8'));
      const dying = toolexec.write('dying', '#!/bin/sh\nkill -9 $$\n');
      chmodSync(dying, 0o755);
      const line = hooks.PreToolUse[0].hooks[0].command.replace(process.execPath, dying);
      // More than a pipe holds.
      const input = 'x'.repeat(1_000_000);
      const { error, status, stderr } = spawnSync(shell, ['-c', line], { encoding: 'utf8', input });
      skip(Object(error).code === 'ENOENT', 'not installed');
      expect(error).toBeUndefined();
      expect([status, stderr]).toEqual([2, expect.stringContaining('not let the call through')]);
    },
  );

  it('writes a line that later shells find where npx has changed PATH, and none into the cache of npx', {
    tags: ['soak'],
  }, async () => {
    const bin = join(toolexec.folder, 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(toolexec.main, join(bin, 'toolexec'));
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const args = ['guard', 'install', 'claude-code', '--yes'];
    expect((await toolexec.run(args, { env })).code).toBe(0);
    expect(lineBefore()).toMatch(/^\/\S+ \/\S+toolexec\.cjs hook --for claude-code \|\| eval '.*exit 2'$/);
    const cached = join(toolexec.folder, '_npx', 'x');
    cpSync(dirname(toolexec.main), cached, { recursive: true });
    const refused = await run(
      `'${process.execPath}' '${join(cached, 'toolexec.cjs')}' guard install codex --yes`,
      '',
      { cwd: toolexec.root, env: toolexec.environment() },
    );
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('npm install --global') });
    expect(existsSync(file('codex'))).toBe(false);
  });

  it('bug: settings of one agent that cannot be read hid the status and the test of the others', async () => {
    await toolexec.run(['guard', 'install', 'claude-code', '--yes']);
    mkdirSync(dirname(file('gemini-cli')), { recursive: true });
    writeFileSync(file('gemini-cli'), '{} {}\n');
    const { code, stdout } = await toolexec.run(['guard', 'status', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { agent: 'claude-code', installed: [file('claude-code')] },
      { agent: 'codex' },
      { agent: 'gemini-cli', installed: [], problems: [expect.stringContaining('cannot be read')] },
    ]);
    expect((await toolexec.run(['guard', 'status'])).stdout).toMatch(
      /^Gemini CLI: guarded or not, .*\n {2}settings: /m,
    );
    const tested = await toolexec.run(['guard', 'test']);
    expect(tested).toMatchObject({ code: 1, stdout: expect.stringMatching(/^ok {2}Claude Code: /m) });
    expect(tested.stdout).toMatch(/^FAILED {2}Gemini CLI: .*cannot be read/m);
  });

  it('bug: hooks that the settings switch off were reported as a guard that works', async () => {
    await toolexec.run(['guard', 'install', 'claude-code', '--yes']);
    toolexec.write('root/.claude/settings.local.json', '{"disableAllHooks":true}');
    const off = /hooks are switched off \(disableAllHooks\)/;
    expect((await toolexec.run(['guard', 'status'])).stdout).toMatch(off);
    expect(await toolexec.run(['guard', 'test'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(off),
    });
  });

  it('bug: hooks that config.toml of Codex, or settings of the system, switch off were reported as a guard that works', async () => {
    for (const name of ['codex', 'gemini-cli']) await toolexec.run(['guard', 'install', name, '--yes']);
    const status = async (env = {}): Promise<string> =>
      (await toolexec.run(['guard', 'status'], { env })).stdout;
    expect(await status()).not.toMatch(/switched off/);
    toolexec.write('root/.codex/config.toml', 'model = "m"\n[features]\nhooks = false\n');
    const system = toolexec.json('system.json', { hooksConfig: { enabled: false } });
    const off = await status({ GEMINI_CLI_SYSTEM_SETTINGS_PATH: system });
    expect(off).toMatch(/switched off \(features\.hooks\) in ".*\/root\/\.codex\/config\.toml"/);
    expect(off).toMatch(/switched off \(hooksConfig\.enabled\) in ".*system\.json"/);
  });

  it('bug: lines that stop every call or may let calls run, and settings that Codex refuses, counted as a guard that works', async () => {
    for (const name of ['claude-code', 'codex']) await toolexec.run(['guard', 'install', name, '--yes']);
    const status = async (): Promise<string> => (await toolexec.run(['guard', 'status'])).stdout;
    expect(await status()).not.toMatch(/settings:/);
    const [claude, codex] = ['claude-code', 'codex'].map((name) => readFileSync(file(name), 'utf8'));
    writeFileSync(file('claude-code'), claude?.replaceAll(toolexec.main, '/no/such/toolexec.cjs') ?? '');
    writeFileSync(file('codex'), codex?.replace('{', '{"$schema": "x",') ?? '');
    const found = await status();
    expect(found).toMatch(
      /"\/no\/such\/toolexec\.cjs" of the line in .* is not there.*install claude-code again/,
    );
    expect(found).toMatch(/Codex refuses ".*hooks\.json", and runs no hook.*"\$schema"/);
    writeFileSync(file('claude-code'), claude?.replaceAll(/ \|\| eval '.*?'/g, ' || exit 2') ?? '');
    expect(await status()).toMatch(/is of an earlier version, and may let a call run/);
    expect((await toolexec.run(['guard', 'test'])).code).toBe(1);
  });

  it('reports a time limit after which the agent runs the call before the hook has answered', async () => {
    await toolexec.run(['guard', 'install', 'gemini-cli', '--yes']);
    const installed = readFileSync(file('gemini-cli'), 'utf8');
    const status = async (): Promise<string> => (await toolexec.run(['guard', 'status'])).stdout;
    expect(await status()).not.toMatch(/waits/);
    writeFileSync(file('gemini-cli'), installed.replaceAll('60000', '10000'));
    expect(await status()).toMatch(/the agent waits 10 s for a hook .* may take 50 s/);
    expect((await toolexec.run(['guard', 'test'])).code).toBe(1);
    writeFileSync(
      file('gemini-cli'),
      installed.replaceAll('60000', '10000').replaceAll('--for gemini-cli', '--for gemini-cli --timeout 8'),
    );
    expect(await status()).not.toMatch(/waits/);
    expect((await toolexec.run(['guard', 'test'])).code).toBe(0);
    await toolexec.run(['guard', 'remove', 'gemini-cli', '--yes']);
    expect(existsSync(file('gemini-cli')) && readFileSync(file('gemini-cli'), 'utf8')).toBe(false);
  });

  it('takes out its own entries alone where the settings have changed since', async () => {
    await toolexec.run(['guard', 'install', 'claude-code', '--yes']);
    const value = JSON.parse(readFileSync(file('claude-code'), 'utf8'));
    writeFileSync(file('claude-code'), JSON.stringify({ ...value, later: 1 }));
    await toolexec.run(['guard', 'remove', 'claude-code', '--yes']);
    expect(JSON.parse(readFileSync(file('claude-code'), 'utf8'))).toEqual({ later: 1 });
  });

  it('writes the settings of the person with --user, and leaves no file where there was none', async () => {
    const user = join(toolexec.folder, '.claude/settings.json');
    expect((await toolexec.run(['guard', 'install', 'claude-code', '--user', '--yes'])).code).toBe(0);
    expect(existsSync(user)).toBe(true);
    expect((await toolexec.run(['guard', 'remove', 'claude-code', '--user', '--yes'])).code).toBe(0);
    // Status treats the directory as a sign of the agent.
    expect(existsSync(dirname(user))).toBe(false);
  });

  it('removes the lines of an earlier version too, which a second install has replaced', async () => {
    const args = ['claude-code', '--yes'];
    const mine = '{"model":"x"}\n';
    mkdirSync(join(file('claude-code'), '..'));
    for (const [end, forget] of [
      ['', false],
      [' || exit 2', true],
    ] as const) {
      writeFileSync(file('claude-code'), mine);
      await toolexec.run(['guard', 'install', ...args]);
      const now = readFileSync(file('claude-code'), 'utf8');
      const old = now.replaceAll(/ \|\| eval '.*?'/g, end);
      expect(old).not.toContain('eval');
      writeFileSync(file('claude-code'), old);
      if (forget) rmSync(toolexec.state, { recursive: true });
      expect((await toolexec.run(['guard', 'install', ...args])).code).toBe(0);
      expect(readFileSync(file('claude-code'), 'utf8')).toBe(now);
      expect((await toolexec.run(['guard', 'remove', ...args])).code).toBe(0);
      expect(JSON.parse(readFileSync(file('claude-code'), 'utf8'))).toEqual(JSON.parse(mine));
    }
  });

  it('changes nothing in settings that it cannot read', async () => {
    mkdirSync(join(file('codex'), '..'));
    writeFileSync(file('codex'), '{ // a comment\n}');
    const ran = await toolexec.run(['guard', 'install', 'codex', '--yes']);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('.codex/hooks.json') });
    expect(readFileSync(file('codex'), 'utf8')).toBe('{ // a comment\n}');
  });

  it('bug: a file in the place of the directory of an agent was a failure inside toolexec', async () => {
    toolexec.write('root/.codex', 'my notes\n');
    const status = await toolexec.run(['guard', 'status', '--json']);
    expect(status.code).toBe(0);
    expect(JSON.parse(status.stdout)[1]).toMatchObject({
      agent: 'codex',
      problems: [expect.stringContaining('a part of its path is a file')],
    });
    for (const action of ['install', 'remove']) {
      const { code, stderr } = await toolexec.run(['guard', action, 'codex', '--yes']);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^toolexec: Cannot continue: [^\n]*\n$/)]);
    }
  });

  it('bug: settings in a directory that may not be written were a failure inside toolexec', () =>
    unprivileged(async () => {
      const own = new Toolexec();
      chmodSync(own.root, 0o555);
      const { code, stderr } = await own.run(['guard', 'install', 'codex', '--yes']);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/toolexec: Cannot continue: .* cannot be written \(EACCES\)/),
      ]);
      chmodSync(own.root, 0o755);
      own.remove();
    }));

  it('says which line does not answer as it must', async () => {
    mkdirSync(join(file('claude-code'), '..'));
    const bad = toolexec.write('toolexec', '#!/bin/sh\nexit 0\n');
    chmodSync(bad, 0o755);
    const entry = { type: 'command', command: `${bad} hook --for claude-code` };
    writeFileSync(
      file('claude-code'),
      JSON.stringify({ hooks: { PreToolUse: [{ matcher: '*', hooks: [entry] }] } }),
    );
    const tested = await toolexec.run(['guard', 'test']);
    expect(tested.code).toBe(1);
    expect(tested.stdout).toMatch(/FAILED {2}Claude Code: a destructive command/);
  });
});
