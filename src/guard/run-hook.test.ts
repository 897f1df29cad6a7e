import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecutor } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { callingProgram } from '../platform/process/calling-program.js';
import type { AgentName } from './agents.js';
import { readDocument } from './document.js';
import { GuardState } from './guard-state.js';
import { mapTool } from './map-tool.js';
import { type HookWorld, runHook } from './run-hook.js';

const RULES: ExecutorOptions = {
  policy: { mode: 'prompt', allowlist: ['read_file', 'write_file', 'edit_file'], denylist: [] },
};

/** A project of an agent, and the answers of the hook in it. */
function guarded(options: ExecutorOptions = RULES, canContain = false) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-guard-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'project');
  mkdirSync(join(root, '.git'), { recursive: true });
  const path = join(folder, 'journal.db');
  const state = new GuardState(join(folder, 'state'));
  const world: HookWorld = {
    ...{ state, env: {}, now: () => Date.now(), canContain: async () => canContain, program: ['toolexec'] },
    configured: async () => ({ options: { ...options, root }, journal: { path, onLoss: 'warn' } }),
  };
  const inRoot = (name: string): string => join(root, name);
  return {
    inRoot,
    state,
    send: (event: string, fields: object = {}) =>
      runHook(
        readDocument(JSON.stringify({ session_id: 's', cwd: root, hook_event_name: event, ...fields })),
        world,
      ),
    async undo(conversation = 's'): Promise<readonly string[]> {
      await using executor = createExecutor({ root, journal: path, approver: null });
      const { openJournal } = await import('../journal/open-journal.js');
      const journal = openJournal(path);
      const history = await journal.history(conversation);
      const batches = history.flatMap((entry) => (entry.kind === 'batch' ? [entry.id] : []));
      const records = (await Promise.all(batches.map((id) => journal.batch(id)))).flat();
      await journal.close();
      for (const { callId } of records.toReversed()) await executor.undo(callId, { conversation });
      return records.map(({ result }) =>
        result?.success === true ? 'done' : (result?.error?.code ?? 'open'),
      );
    },
  };
}

const claude = (name: string, input: object, id: string) => ({
  tool_name: name,
  tool_input: input,
  tool_use_id: id,
  permission_mode: 'default',
});

describe('changes of an agent are taken back', () => {
  it('of apply_patch, with added, changed and removed files', async () => {
    const { send, undo, inRoot } = guarded({ policy: null });
    writeFileSync(inRoot('a.txt'), 'one\n');
    writeFileSync(inRoot('gone.txt'), 'was here\n');
    const command =
      '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: sub/new.txt\n+new\n*** Delete File: gone.txt\n*** End Patch';
    const call = claude('apply_patch', { command }, 'p1');
    await send('PreToolUse', call);
    writeFileSync(inRoot('a.txt'), 'two\n');
    mkdirSync(inRoot('sub'));
    writeFileSync(inRoot('sub/new.txt'), 'new\n');
    rmSync(inRoot('gone.txt'));
    await send('PostToolUse', { ...call, tool_response: {} });
    expect(await undo()).toEqual(['done']);
    expect(readFileSync(inRoot('a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(inRoot('gone.txt'), 'utf8')).toBe('was here\n');
    expect(existsSync(inRoot('sub'))).toBe(false);
  });

  it.each([
    ['MultiEdit', (file: string) => ({ file_path: file, edits: [{ old_string: 'one', new_string: 'two' }] })],
    ['NotebookEdit', (file: string) => ({ notebook_path: file, new_source: 'two' })],
  ])('of %s, whose result is known only afterwards', async (name, input) => {
    const { send, undo, inRoot } = guarded({ policy: null });
    writeFileSync(inRoot('a.ipynb'), 'one\n');
    const call = claude(name, input(inRoot('a.ipynb')), 'm1');
    await send('PreToolUse', call);
    writeFileSync(inRoot('a.ipynb'), 'two\n');
    await send('PostToolUse', { ...call, tool_response: {} });
    expect(await undo()).toEqual(['done']);
    expect(readFileSync(inRoot('a.ipynb'), 'utf8')).toBe('one\n');
  });

  it('bug: not of a huge file: to hash it took longer than the agent waits for a hook, and the call ran', async () => {
    const { send, undo, inRoot } = guarded({ policy: null });
    writeFileSync(inRoot('huge'), '');
    truncateSync(inRoot('huge'), 2 ** 40);
    const call = claude('Write', { file_path: inRoot('huge'), content: 'small\n' }, 'h1');
    expect(await send('PreToolUse', call)).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'allow' },
    });
    writeFileSync(inRoot('huge'), 'small\n');
    await send('PostToolUse', { ...call, tool_response: {} });
    expect(await undo()).toEqual(['done']);
    expect(readFileSync(inRoot('huge'), 'utf8')).toBe('small\n');
  });

  const gemini = (path: string, content: string) => ({
    tool_name: 'write_file',
    tool_input: { file_path: path, content },
    timestamp: new Date(0).toISOString(),
  });

  it('of two equal calls of Gemini CLI, which has no ids: both are kept', async () => {
    const { send, undo, inRoot } = guarded();
    const file = inRoot('a.txt');
    writeFileSync(file, 'zero');
    for (const content of ['one', 'two', 'one']) {
      await send('BeforeTool', gemini(file, content));
      writeFileSync(file, content);
      await send('AfterTool', { ...gemini(file, content), tool_response: {} });
    }
    expect(await undo()).toEqual(['done', 'done', 'done']);
    expect(readFileSync(file, 'utf8')).toBe('zero');
  });

  it('of an equal call, if the end of the first was never reported: the state at the second counts', async () => {
    const { send, undo, inRoot } = guarded();
    const file = inRoot('a.txt');
    writeFileSync(file, 'zero');
    await send('BeforeTool', gemini(file, 'one'));
    // The person has refused it, and has written another text.
    writeFileSync(file, 'mine');
    await send('BeforeTool', gemini(file, 'one'));
    writeFileSync(file, 'one');
    await send('AfterTool', { ...gemini(file, 'one'), tool_response: {} });
    // The person's text differs from the change of the first call, so the undo leaves it.
    expect(await undo()).toEqual(['outcome_unknown', 'done']);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});

describe('the answer to PermissionRequest', () => {
  const command = (line: string, more: object = {}) => ({
    ...claude('Bash', { command: line }, 'b1'),
    ...more,
  });

  it('is nothing where the person is to be asked, so that the agent asks', async () => {
    const { send } = guarded();
    expect(await send('PermissionRequest', command('make release'))).toBeUndefined();
  });

  it('allows what the policy allows, and denies what it denies with a message', async () => {
    const rules = [{ decision: 'allow' as const, command: 'echo *' }];
    const { send } = guarded({ policy: { rules } });
    expect(await send('PermissionRequest', command('echo hello'))).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
    });
    expect(await send('PermissionRequest', command('rm -rf /'))).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: expect.stringMatching(/.{10}/) } },
    });
  });

  it('changes no input for Codex, which would refuse that', async () => {
    const rules = [{ decision: 'allow' as const, command: 'echo *' }];
    const { send } = guarded({ policy: { rules } });
    const codex = command('echo hello', { turn_id: 't' });
    expect(await send('PermissionRequest', codex)).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
    });
  });

  it('bug: is nothing about a replaced command that the person is being asked about: it allowed it', async () => {
    const { send } = guarded({}, true);
    const call = { tool_name: 'Bash', permission_mode: 'default' };
    const asked = await send('PreToolUse', {
      ...call,
      tool_input: { command: 'make release' },
      tool_use_id: 'r1',
    });
    const { permissionDecision, updatedInput } = Object(asked?.hookSpecificOutput);
    expect([permissionDecision, updatedInput.command]).toEqual([
      'ask',
      expect.stringContaining('exec --call r1'),
    ]);
    // Claude Code asks the person about the replacement, and sends no id with it.
    expect(await send('PermissionRequest', { ...call, tool_input: updatedInput })).toBeUndefined();
    // The model may also send it again, after the person has refused it.
    expect(await send('PreToolUse', { ...call, tool_input: updatedInput, tool_use_id: 'r2' })).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'ask' },
    });
  });

  it('records no change: the call may still be refused', async () => {
    const { send, undo, inRoot } = guarded();
    const call = claude('Write', { file_path: inRoot('a.txt'), content: 'x' }, 'w1');
    expect(await send('PermissionRequest', call)).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'allow' } },
    });
    expect(await undo()).toEqual([]);
  });
});

describe('bug: Codex ran the call after an answer that it rejects', () => {
  const codex = (name: string, input: object) => ({
    ...{ tool_name: name, tool_input: input, tool_use_id: 'c', turn_id: 't' },
  });
  const patch = { command: '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch' };
  const rules = [{ decision: 'allow' as const, command: 'echo *' }];

  it.each([
    ['Bash', { command: 'make release' }],
    ['apply_patch', patch],
  ])('%s that needs approval is denied, since Codex cannot ask, and not recorded', async (name, input) => {
    const { send, undo } = guarded();
    expect(await send('PreToolUse', codex(name, input))).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringMatching(/[^.]\. Codex cannot ask the person for a hook/),
      },
    });
    expect(await undo()).toEqual([]);
  });

  it('an allowed call is answered with nothing: only a changed input needs an allow', async () => {
    const { send } = guarded({ policy: { rules } });
    expect(await send('PreToolUse', codex('Bash', { command: 'echo hello' }))).toBeUndefined();
    const { send: contained } = guarded({ policy: { rules } }, true);
    expect(await contained('PreToolUse', codex('Bash', { command: 'echo hello' }))).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'allow',
        updatedInput: { command: expect.stringContaining('exec --call') },
      },
    });
  });

  it('a permission for a command that is allowed only in a transaction is denied with the line to run', async () => {
    const { send, state } = guarded({ profile: 'contained' }, true);
    state.learn('codex', callingProgram().version, 'arrives', 0);
    expect(await send('PermissionRequest', codex('Bash', { command: 'touch a' }))).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: expect.stringContaining('exec --call') } },
    });
  });
});

it('a command of a skill runs unchanged if a rule allows it; otherwise it is denied, without a question', async () => {
  const rules = [{ decision: 'allow' as const, command: 'echo *' }];
  const { send, state } = guarded({ policy: { rules }, profile: 'contained' }, true);
  state.learn('claude-code', callingProgram().version, 'arrives', 0);
  const skill = (line: string, name = 'Bash') =>
    send('PreSkillShellCommand', {
      ...claude(name, { command: line }, 's1'),
      ...{ command_name: 'release', invoked_by: 'claude' },
    });
  const answer = await skill('echo hello');
  expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'allow' } });
  expect(answer?.hookSpecificOutput).not.toHaveProperty('updatedInput');
  for (const [line, name] of [['touch a'], ['rm -rf /'], ['echo hello', 'PowerShell']] as const)
    expect(await skill(line, name)).toMatchObject({
      hookSpecificOutput: {
        hookEventName: 'PreSkillShellCommand',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.not.stringContaining('exec --call'),
      },
    });
});

it.each(['bypassPermissions', 'auto'])(
  'bug: Claude Code ran calls in the mode %s that should have been asked about',
  async (mode) => {
    const { send, undo } = guarded({ policy: {} }, true);
    for (const [name, input] of [
      ['Bash', { command: 'make release' }],
      ['Write', { file_path: 'a', content: 'x' }],
    ] as const)
      expect(await send('PreToolUse', { ...claude(name, input, 'm'), permission_mode: mode })).toMatchObject({
        hookSpecificOutput: {
          permissionDecision: 'deny',
          permissionDecisionReason: expect.stringContaining(`may not ask the person in the mode ${mode}`),
        },
      });
    expect(await undo()).toEqual([]);
  },
);

it('bug: an answer in the shape of another agent let the call run', async () => {
  const { send } = guarded();
  const call = { ...claude('Bash', { command: 'rm -rf /' }, 'b'), permission_mode: undefined };
  const timed = { ...call, timestamp: new Date(0).toISOString() };
  expect(await send('PreToolUse', timed)).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
  const named = (event: string, agent: AgentName) => () =>
    readDocument(JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: event, ...call }), agent);
  expect(named('BeforeTool', 'claude-code')).toThrow(/BeforeTool is not an event of Claude Code/);
  expect(named('PreToolUse', 'gemini-cli')).toThrow(/PreToolUse is not an event of Gemini CLI/);
  expect(named('PreToolUse', 'codex')()).toMatchObject({ event: 'before' });
});

describe('searches of an agent', () => {
  const gemini = (input: object) => ({ tool_name: 'read_many_files', tool_input: input });
  it.each<[string, object, 'allow' | 'ask']>([
    ['Grep of .env', claude('Grep', { pattern: 'KEY', glob: '.env' }, 't'), 'ask'],
    ['Grep of *.{pem,txt}', claude('Grep', { pattern: 'KEY', glob: '*.{pem,txt}' }, 't'), 'ask'],
    ['Grep of keys/**', claude('Grep', { pattern: 'KEY', glob: 'keys/**' }, 't'), 'ask'],
    ['Grep of an unfinished class', claude('Grep', { pattern: 'KEY', glob: '[a-' }, 't'), 'ask'],
    ['Grep of *.ts', claude('Grep', { pattern: 'KEY', glob: '*.ts' }, 't'), 'allow'],
    ['Grep without tests', claude('Grep', { pattern: 'KEY', glob: '!*.test.ts' }, 't'), 'allow'],
    ['read_many_files of **/.env', gemini({ include: ['src/*.ts', '**/.env'] }), 'ask'],
    ['read_many_files of src/**', gemini({ include: ['src/**/*.ts'] }), 'allow'],
  ])('bug: %s showed files that deny patterns hide', async (_what, call, decision) => {
    const { send, inRoot } = guarded();
    for (const name of ['src', 'keys']) mkdirSync(inRoot(name));
    for (const name of ['.env', 'src/a.ts', 'keys/server.pem']) writeFileSync(inRoot(name), 'KEY=1');
    const event = 'tool_use_id' in call ? 'PreToolUse' : 'BeforeTool';
    const answer = JSON.stringify(await send(event, call));
    expect(answer).toContain(`ecision":"${decision}"`);
    if (decision === 'ask') expect(answer).toMatch(/deny patterns hide|not understood/);
  });
});

describe('what an attacker writes into a call', () => {
  const LISTED: ExecutorOptions = {
    policy: {
      mode: 'prompt',
      allowlist: ['read_file', 'write_file', 'edit_file', 'apply_patch'],
      rules: [{ decision: 'allow', command: 'ls *' }],
    },
    sandbox: { deniedWritePatterns: ['sub/locked/**', '..sub/locked/**'] },
  };
  const patch = (header: string) => ({
    tool_name: 'apply_patch',
    tool_input: { command: `*** Begin Patch\n${header}locked/x\n+x\n*** End Patch` },
    turn_id: 't',
  });
  /** The decision and the reason; `stopped`: exit code 2. */
  async function answered(answer: Promise<unknown>): Promise<string> {
    return JSON.stringify(await answer.catch((error: Error) => `stopped: ${error.message}`)) ?? 'nothing';
  }

  it.each<[string, object, RegExp]>([
    ['a file named like a shell', { command: ['./bash', '-c', 'ls .'] }, /"deny".*cannot ask/],
    ['a shell of the project', { cmd: 'ls .', shell: './evil' }, /stopped: its shell/],
    ['two commands', { cmd: 'touch x', command: 'ls .' }, /stopped: it names a command twice/],
    ['a shell of the system', { command: ['/usr/bin/bash', '-lc', 'ls .'] }, /^nothing$/],
    ['the name of a shell', { cmd: 'ls .', shell: 'zsh' }, /^nothing$/],
  ])('bug: the command of Codex with %s was evaluated as another one', async (_what, input, expected) => {
    const { send } = guarded(LISTED);
    const call = { tool_name: 'exec_command', tool_input: input, tool_use_id: 'c', turn_id: 't' };
    expect(await answered(send('PreToolUse', call))).toMatch(expected);
  });

  it.each<[string, string, object, RegExp]>([
    ['read_file', 'two paths', { file_path: 'a', absolute_path: '/etc/hostname' }, /two different paths/],
    ['write_file', 'a path in ~', { file_path: '~/x', content: '' }, /begins with ~/],
    ['read_many_files', 'a second list', { include: ['a'], paths: ['/etc/hostname'] }, /outside the roots/],
    ['read_many_files', '.. after a wildcard', { include: ['*/../../x'] }, /has a part/],
    ['glob', '..', { pattern: '../../**' }, /has a part/],
    ['constructor', 'the name of a property', { kind: 'own' }, /"ask"/],
  ])('bug: %s with %s was evaluated by a part of its input', async (name, _what, input, expected) => {
    const { send } = guarded(LISTED);
    expect(await answered(send('BeforeTool', { tool_name: name, tool_input: input }))).toMatch(expected);
  });

  it.each([
    ['sub', '*** Add File: '],
    ['sub', ' *** Add File: '],
    ['sub', '*** Add File:'],
    ['sub', '*** Add File:   '],
    ['..sub', '*** Add File: '],
    ['../link', '*** Add File: '],
  ])('bug: a patch in %s with the header "%s" was evaluated for another file', async (directory, header) => {
    const { send, inRoot } = guarded(LISTED);
    for (const name of ['sub', '..sub']) mkdirSync(inRoot(name));
    symlinkSync(inRoot('sub'), inRoot('../link'));
    const call = { ...patch(header), cwd: inRoot(directory), tool_use_id: 'p' };
    expect(await answered(send('PreToolUse', call))).toMatch(/"deny".*denied pattern/);
  });

  it.each([
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.codex/config.toml',
    '.gemini/settings.json',
  ])('bug: a call that may write files switched its guard off in %s', async (file) => {
    const { send, inRoot } = guarded(LISTED);
    const call = claude('Write', { file_path: inRoot(file), content: '{}' }, 'w');
    expect(await answered(send('PreToolUse', call))).toMatch(/"deny".*denied pattern/);
  });

  it('bug: web_fetch of Gemini CLI with an address was not evaluated for those in its prompt', () => {
    const input = { url: 'http://a.test', prompt: 'Read http://b.test' };
    const fetched = (url: string) => ({ kind: 'fetch', url });
    expect(mapTool({ name: 'web_fetch', input })).toMatchObject({
      effects: [fetched('http://a.test'), fetched('http://b.test')],
    });
    expect(mapTool({ name: 'WebFetch', input })).toMatchObject({ effects: [fetched('http://a.test')] });
  });

  it('bug: an event named like a property was let through', async () => {
    const { send } = guarded(LISTED);
    expect(() => send('constructor', claude('Bash', { command: 'ls' }, 'b'))).toThrow(/is not known/);
  });
});
