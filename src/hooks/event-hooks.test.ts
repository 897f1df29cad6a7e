import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../contract/approval.js';
import type { ToolCall } from '../contract/call.js';
import { createExecutor } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import type { HookEvent, HookOptions } from './hook-options.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolexec-hooks-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const hooksFor = (event: HookEvent, command: string, matcher?: string): HookOptions => ({
  [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command }] }],
});
const says = (answer: unknown): string => `printf %s '${JSON.stringify(answer)}'`;
const decides = (decision: object): string => says({ hookSpecificOutput: { decision } });
const write = (id: string, path = id): ToolCall => ({ id, name: 'write_file', args: { path, content: 'x' } });
const seen = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));

async function run(hooks: HookOptions, calls: readonly ToolCall[], more: ExecutorOptions = {}) {
  await using executor = createExecutor({ root, hooks, ...more });
  // Awaited here: the executor is closed on the way out.
  return await executor.run(calls, { conversation: 'talk' });
}

describe('a PermissionRequest hook', () => {
  it('allows a call if there is no person', async () => {
    const hooks = hooksFor('PermissionRequest', `cat >seen; ${decides({ behavior: 'allow' })}`);
    expect(await run(hooks, [write('a')])).toMatchObject([{ success: true }]);
    expect(seen('seen')).toMatchObject({
      hook_event_name: 'PermissionRequest',
      session_id: 'talk',
      tool_name: 'Write',
      tool_input: { path: 'a', file_path: join(root, 'a') },
      description: expect.stringContaining('a'),
    });
  });

  it('refuses with its message, and the person is not asked', async () => {
    const asked: string[] = [];
    const hooks = hooksFor('PermissionRequest', decides({ behavior: 'deny', message: 'not today' }));
    const approver = (requests: readonly ApprovalRequest[]) => {
      asked.push(...requests.map(({ callId }) => callId));
      return { kind: 'approve_all' } as const;
    };
    expect(await run(hooks, [write('a')], { approver })).toMatchObject([
      { error: { code: 'policy_denied', message: expect.stringContaining('not today') } },
    ]);
    expect([asked, existsSync(join(root, 'a'))]).toEqual([[], false]);
  });

  it('changes arguments, which are checked and planned again', async () => {
    const hooks = hooksFor(
      'PermissionRequest',
      decides({ behavior: 'allow', updatedInput: { content: 'other' } }),
    );
    await run(hooks, [write('a')]);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('other');
    const outside = hooksFor(
      'PermissionRequest',
      decides({ behavior: 'allow', updatedInput: { path: '../out' } }),
    );
    expect(await run(outside, [write('b')])).toMatchObject([{ error: { code: 'sandbox_violation' } }]);
  });

  it('leaves calls open that it does not decide, or fails at: the person is asked about those alone', async () => {
    const asked: string[] = [];
    const approver = (requests: readonly ApprovalRequest[]) => {
      asked.push(...requests.map(({ callId }) => callId));
      return { kind: 'deny_all' } as const;
    };
    const onlyA = `grep -q '"path":"a"' && ${decides({ behavior: 'allow' })}`;
    const results = await run(hooksFor('PermissionRequest', onlyA), [write('a'), write('b')], { approver });
    expect(results).toMatchObject([{ success: true }, { error: { code: 'user_denied' } }]);
    expect(asked).toEqual(['b']);
    await run(hooksFor('PermissionRequest', 'echo nonsense'), [write('c')], { approver });
    expect(asked).toEqual(['b', 'c']);
  });

  it('lifts neither the denylist nor the sandbox nor a block, and is not asked where no person would be', async () => {
    const hooks = hooksFor('PermissionRequest', `echo >>ran; ${decides({ behavior: 'allow' })}`);
    const calls: ToolCall[] = [
      write('a', '/etc/x'),
      { id: 'b', name: 'bash', args: { command: 'rm -rf /' } },
      write('c'),
    ];
    const results = await run(hooks, calls, { policy: { denylist: ['write_file'] }, sandbox: { os: 'off' } });
    expect(results.map(({ error }) => error?.code)).toEqual([
      'denylisted',
      expect.stringMatching(/denied|violation/),
      'denylisted',
    ]);
    expect(await run(hooks, [write('d')], { approver: null })).toMatchObject([{ success: true }]);
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });
});

describe('a PermissionDenied hook', () => {
  it('hears why a call is refused, and may let the model try again', async () => {
    const hooks = hooksFor(
      'PermissionDenied',
      `cat >seen; ${says({ hookSpecificOutput: { retry: true, additionalContext: 'use another file' } })}`,
    );
    const [result] = await run(hooks, [write('a')], { policy: { denylist: ['write_file'] } });
    expect(result).toMatchObject({
      error: { code: 'denylisted' },
      output: '[hook] you may try this call once more\n[hook] use another file',
    });
    expect(seen('seen')).toMatchObject({ tool_name: 'Write', reason: result?.error?.message });
  });

  it('is not run for a refusal of the person', async () => {
    await run(hooksFor('PermissionDenied', 'cat >seen'), [write('a')], {
      approver: () => ({ kind: 'deny_all' }),
    });
    expect(existsSync(join(root, 'seen'))).toBe(false);
  });
});

describe('a Notification hook', () => {
  it('runs while the person is asked, and is waited for at the end', async () => {
    const hooks = hooksFor('Notification', 'cat >part; sleep 0.3; mv part seen', 'permission_prompt');
    await run(hooks, [write('a')], {
      approver: async () => {
        await pause(400);
        return { kind: 'approve_all' };
      },
    });
    expect(seen('seen')).toMatchObject({
      notification_type: 'permission_prompt',
      message: expect.stringMatching(/^Permission needed: .*\ba\b/),
    });
  });

  it('is not run for a question that is answered at once, nor for another type', async () => {
    await run(hooksFor('Notification', 'echo >seen'), [write('a')], {
      approver: () => ({ kind: 'approve_all' }),
    });
    const approver = async () => {
      await pause(400);
      return { kind: 'approve_all' } as const;
    };
    await run(hooksFor('Notification', 'echo >seen', 'idle_prompt'), [write('b')], { approver });
    expect(existsSync(join(root, 'seen'))).toBe(false);
  });

  it('is called for a deferred batch', async () => {
    await using executor = createExecutor({ root, hooks: hooksFor('Notification', 'cat >seen') });
    await executor.run([write('a'), write('b')], { conversation: 'talk', defer: true });
    await executor.close();
    expect(seen('seen').message).toMatch(/^Permission needed for 2 calls: /);
  });
});

describe('a PostToolBatch hook', () => {
  it('runs once, when all calls have ended, and speaks to the model in the last result', async () => {
    const hooks = hooksFor(
      'PostToolBatch',
      `cat >>seen; ${says({ hookSpecificOutput: { additionalContext: 'run the tests' } })}`,
    );
    const refused = write('r', '/etc/x');
    const results = await run(hooks, [write('a'), write('b'), refused], { approver: null });
    expect(results.map(({ output }) => output.includes('[hook] run the tests'))).toEqual([
      false,
      true,
      false,
    ]);
    expect(seen('seen')).toMatchObject({
      tool_calls: [
        { tool_name: 'Write', tool_use_id: 'a', tool_response: { success: true } },
        { tool_use_id: 'b' },
        { tool_use_id: 'r', tool_response: { success: false }, error: expect.any(String) },
      ],
    });
  });

  it('is killed with its batch', async () => {
    await using executor = createExecutor({
      root,
      approver: null,
      hooks: hooksFor('PostToolBatch', 'echo >begun; sleep 30; echo >ended'),
    });
    const batch = executor.start([write('a')]);
    const cut = setInterval(() => existsSync(join(root, 'begun')) && batch.cancel(), 50);
    expect(await batch.results).toMatchObject([{ success: true }]);
    clearInterval(cut);
    expect(existsSync(join(root, 'ended'))).toBe(false);
  });
});

describe('variables of hooks', () => {
  it('name the tool and the file, as hex does, however long or odd a value is', async () => {
    const hooks = hooksFor(
      'PreToolUse',
      'echo "$CLAUDE_HOOK_EVENT $CLAUDE_TOOL_NAME $CLAUDE_TOOL_FILE_PATH" >seen',
    );
    await run(hooks, [write('a')], { approver: null });
    expect(readFileSync(join(root, 'seen'), 'utf8')).toBe(`PreToolUse Write ${join(root, 'a')}\n`);
    await run(hooks, [write('b', 'x\0'.repeat(100_000))], { approver: null });
    expect(readFileSync(join(root, 'seen'), 'utf8').length).toBeLessThan(5000);
  });
});
