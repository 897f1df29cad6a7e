import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createExecutor } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import type { CommandHook, HookOptions } from './hook-options.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolexec-hooks-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const hook = (command: string, more: Partial<CommandHook> = {}): CommandHook => ({
  type: 'command',
  command,
  ...more,
});
const preToolUse = (...hooks: readonly CommandHook[]): HookOptions => ({ PreToolUse: [{ hooks }] });
const says = (specific: Readonly<Record<string, unknown>>): string =>
  `printf %s '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...specific } })}'`;

async function write(hooks: HookOptions, more: ExecutorOptions = {}, args = { path: 'a', content: 'x' }) {
  await using executor = createExecutor({ root, hooks, approver: () => ({ kind: 'approve_all' }), ...more });
  const [result] = await executor.run([{ id: 'c1', name: 'write_file', args }]);
  return result;
}

describe('a hook before a call', () => {
  it('gets the document that those agents send, with the name they know and an absolute file', async () => {
    expect(await write(preToolUse(hook('cat >document')))).toMatchObject({ success: true });
    expect(JSON.parse(readFileSync(join(root, 'document'), 'utf8'))).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_use_id: 'c1',
      cwd: root,
      session_id: expect.stringMatching(/.{10,}/),
      tool_input: { path: 'a', content: 'x', file_path: join(root, 'a') },
    });
  });

  it.each<[string, CommandHook, RegExp]>([
    ['exits with 2', hook('echo not this >&2; exit 2'), /not this/],
    ['denies', hook(says({ permissionDecision: 'deny', permissionDecisionReason: 'no way' })), /no way/],
    [
      'blocks, as Gemini CLI says it',
      hook(`printf '{"decision":"block","reason":"gemini no"}'`),
      /gemini no/,
    ],
    ['says that it must not go on', hook(`printf '{"continue":false,"stopReason":"stop it"}'`), /stop it/],
    ['crashes', hook('exit 1'), /exit code 1/],
    ['is missing', hook('no-such-program-here'), /exit code 127/],
    ['hangs', hook('sleep 60 & sleep 60', { timeout: 0.3 }), /took too long/],
    ['prints no JSON', hook('echo fine'), /no JSON object, but "fine"/],
    [
      'prints a byte order mark',
      hook(`printf '\\357\\273\\277{"decision":"block","reason":"marked"}'`),
      /marked/,
    ],
    [
      'gives its reason in JSON, and exits with 2',
      hook(`${says({ permissionDecisionReason: 'why' })}; exit 2`),
      /why/,
    ],
    ['prints a list', hook('echo []'), /no JSON/],
    [
      'answers in a text',
      hook(`printf '{"hookSpecificOutput":"deny"}'`),
      /hookSpecificOutput that is not an object/,
    ],
    ['changes the input to a text', hook(says({ updatedInput: 'x' })), /updatedInput that is not an object/],
    ['decides beside the place for it', hook(`printf '{"permissionDecision":"deny"}'`), /a hook says so/],
    ['decides for another event', hook(says({ decision: 'deny' })), /a hook says so/],
    ['decides what is not known', hook(says({ permissionDecision: 'maybe' })), /unknown decision/],
  ])('that %s refuses the call', async (_, one, why) => {
    const result = await write(preToolUse(one));
    expect(result).toMatchObject({
      success: false,
      error: { code: 'policy_denied', message: expect.stringMatching(why) },
    });
    expect(existsSync(join(root, 'a'))).toBe(false);
  });

  it('bug: that starts a process in another group, which keeps its output open, was waited for without end', async () => {
    const leaving = `setsid sh -c 'echo $$ >${join(root, 'pid')}; exec sleep 300' &`;
    const result = await write(preToolUse(hook(`${leaving} sleep 300`, { timeout: 1 })));
    if (existsSync(join(root, 'pid')))
      process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 'SIGKILL');
    expect(result).toMatchObject({
      success: false,
      error: { message: expect.stringMatching(/took too long/) },
    });
  });

  it('bug: that leaves a program running, which keeps its output open, took all of its time', async () => {
    const leaving = `sleep 300 & echo $! >${join(root, 'pid')}`;
    const start = performance.now();
    const more = { timeout: 200 };
    const result = await write(
      preToolUse(hook(`${leaving}; ${says({ permissionDecision: 'allow' })}`, more)),
    );
    const other = await write(preToolUse(hook(`${leaving}; exit 2`, more)));
    const took = performance.now() - start;
    process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 'SIGKILL');
    expect(result).toMatchObject({ success: true });
    expect(other).toMatchObject({ error: { code: 'policy_denied' } });
    expect(took).toBeLessThan(200_000);
  });

  it('bug: that writes what it does not set as null was refused', async () => {
    for (const [path, answer] of [
      ['a', '{"hookSpecificOutput":null}'],
      ['b', '{"decision":null,"reason":null}'],
    ] as const)
      expect(await write(preToolUse(hook(`printf '${answer}'`)), {}, { path, content: 'x' })).toMatchObject({
        success: true,
      });
  });

  it('that fails and has on_failure = "continue" lets the call continue', async () => {
    for (const [path, command] of [
      ['a', 'exit 1'],
      ['b', 'echo fine'],
    ] as const)
      expect(
        await write(preToolUse(hook(command, { on_failure: 'continue' })), {}, { path, content: 'x' }),
      ).toMatchObject({ success: true });
    expect(await write(preToolUse(hook('exit 2', { on_failure: 'continue' })))).toMatchObject({
      success: false,
    });
  });

  it('changes arguments, which are merged, checked and planned again', async () => {
    await write(
      preToolUse(hook(says({ updatedInput: { content: 'changed' } }))),
      {},
      { path: 'b', content: 'x' },
    );
    expect(readFileSync(join(root, 'b'), 'utf8')).toBe('changed');
    expect(await write(preToolUse(hook(says({ updatedInput: { content: 1 } }))))).toMatchObject({
      error: { code: 'bad_args' },
    });
    expect(await write(preToolUse(hook(says({ updatedInput: { path: '../out' } }))))).toMatchObject({
      error: { code: 'sandbox_violation' },
    });
    const gemini = {
      BeforeTool: [{ hooks: [hook(`printf '{"hookSpecificOutput":{"tool_input":{"content":"g"}}}'`)] }],
    };
    await write(gemini, {}, { path: 'c', content: 'x' });
    expect(readFileSync(join(root, 'c'), 'utf8')).toBe('g');
  });

  it('bug: another file_path in the answer, as hooks for those agents name a file, was ignored', async () => {
    const moves = preToolUse(hook(says({ updatedInput: { file_path: join(root, 'moved'), content: 'x' } })));
    expect(await write(moves)).toMatchObject({ success: true });
    expect([existsSync(join(root, 'a')), existsSync(join(root, 'moved'))]).toEqual([false, true]);
    const leaves = preToolUse(hook(says({ updatedInput: { file_path: '/etc/x' } })));
    expect(await write(leaves)).toMatchObject({ error: { code: 'sandbox_violation' } });
  });

  it('bug: a hook that repeated the whole input took back the change of another one', async () => {
    const repeats = hook(says({ updatedInput: { path: 'a', content: 'x', file_path: join(root, 'a') } }));
    const changes = hook(says({ updatedInput: { content: 'safe' } }));
    await write(preToolUse(changes, repeats));
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('safe');
  });

  it('allows where only the mode asks, and never past the denylist, a rule or a requirement', async () => {
    const allow = preToolUse(hook(says({ permissionDecision: 'allow' })));
    const unasked: ExecutorOptions = { approver: () => ({ kind: 'deny_all' }) };
    expect(await write(allow, unasked)).toMatchObject({ success: true });
    expect(await write(allow, { policy: { denylist: ['write_file'] } })).toMatchObject({
      error: { code: 'denylisted' },
    });
    const rules = [{ decision: 'ask' as const, tool: 'write_file' }];
    expect(await write(allow, { ...unasked, policy: { rules } })).toMatchObject({
      error: { code: 'user_denied' },
    });
    expect(await write(allow, {}, { path: '/etc/x', content: '' })).toMatchObject({
      error: { code: 'sandbox_violation' },
    });
  });

  it('asks, and the strictest of several counts', async () => {
    const ask = hook(says({ permissionDecision: 'ask', permissionDecisionReason: 'look at it' }));
    const allow = hook(says({ permissionDecision: 'allow' }));
    let reason = '';
    const result = await write(preToolUse(allow, ask, allow), {
      policy: { mode: 'auto', promptSideEffects: false },
      approver(requests) {
        reason = requests[0]?.reason ?? '';
        return { kind: 'deny_all' };
      },
    });
    expect([result?.error?.code, reason]).toEqual(['user_denied', 'look at it']);
    expect(await write(preToolUse(allow, ask, hook('exit 2')))).toMatchObject({
      error: { code: 'policy_denied' },
    });
  });

  it.each<[string, boolean]>([
    ['Write', true],
    ['write_file', true],
    ['Bash|Write', true],
    ['W.*', true],
    ['*', true],
    ['', true],
    ['Wri', false],
    ['Bash', false],
  ])('with the matcher %j: %s', async (matcher, isMeant) => {
    const result = await write({ PreToolUse: [{ matcher, hooks: [hook('exit 2')] }] });
    expect(result?.success).toBe(!isMeant);
  });

  it('runs beside others, and counts milliseconds where Gemini CLI does', async () => {
    // None ends before all have begun.
    const meets = hook('echo >$$.begun; until [ "$(ls *.begun | wc -l)" = 4 ]; do sleep 0.05; done', {
      timeout: 30,
    });
    expect(await write(preToolUse(meets, meets, meets, meets))).toMatchObject({ success: true });
    expect(await write({ BeforeTool: [{ hooks: [hook('sleep 5', { timeout: 200 })] }] })).toMatchObject({
      success: false,
    });
  });
});

describe('a hook after a call', () => {
  it('adds what the model reads, of successes and of failures', async () => {
    const context = `printf '{"hookSpecificOutput":{"additionalContext":"remember this"}}'`;
    const after = await write({
      PostToolUse: [{ hooks: [hook(context)] }, { hooks: [hook('echo formatted badly >&2; exit 2')] }],
    });
    expect(after).toMatchObject({ success: true, output: expect.stringMatching(/\[hook\] .*\n\[hook\] /) });
    expect(after?.output).toContain('remember this');
    const failed = await write({
      PostToolUseFailure: [{ hooks: [hook('cat >seen; echo hint >&2; exit 2')] }],
    });
    expect(failed).toMatchObject({ success: false, output: expect.stringContaining('hint') });
    expect(JSON.parse(readFileSync(join(root, 'seen'), 'utf8'))).toMatchObject({
      error: expect.stringContaining('exist'),
    });
  });
});

describe('options.hooks', () => {
  it.each<[unknown, RegExp]>([
    [{ Whatever: [] }, /options\.hooks\.Whatever is not known/],
    [{ Stop: [{ matcher: 'Write', hooks: [hook('x')] }] }, /Stop\[0\]\.matcher has no meaning/],
    [{ PreToolUse: {} }, /PreToolUse must be a list/],
    [{ PreToolUse: [{}] }, /PreToolUse\[0\]\.hooks must be/],
    [{ PreToolUse: [{ matcher: '(', hooks: [hook('x')] }] }, /matcher/],
    [{ PreToolUse: [{ hooks: [{ type: 'http', command: 'x' }] }] }, /type must be "command"/],
    [{ PreToolUse: [{ hooks: [{ ...hook('x'), timeuot: 1 }] }] }, /timeuot is not known/],
  ])('%j is refused', (hooks, why) => {
    expect(() => createExecutor({ root, hooks } as ExecutorOptions)).toThrow(why);
  });
});
