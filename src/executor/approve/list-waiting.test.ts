import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { runProgram } from '../fixtures/run-program.js';

let folder: string;
const open: Executor[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-waiting-'));
});

afterEach(async () => {
  for (const executor of open.splice(0)) await executor.close();
  rmSync(folder, { recursive: true });
});

const journal = (): string => join(folder, 'journal.db');

function executorOf(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root: folder, journal: journal(), ...options });
  open.push(executor);
  return executor;
}

const write = (id: string, path: string): ToolCall => ({
  id,
  name: 'write_file',
  args: { path, content: 'new\n' },
});

async function defer(executor: Executor, calls: readonly ToolCall[], conversation: string): Promise<string> {
  const run = executor.start(calls, { conversation, defer: true });
  await run.results;
  return run.id;
}

describe('executor.waiting()', () => {
  it('gives what waits as the requests that the person is asked, in another executor too', async () => {
    const first = executorOf();
    const before = Date.now();
    const one = await defer(first, [write('a', 'a.txt'), write('b', 'b.txt')], 'c1');
    const two = await defer(first, [{ id: 'r', name: 'bash', args: { command: 'rm -r old' } }], 'c2');
    const asked: unknown[] = [];
    const rerun = executorOf({
      journal: join(folder, 'other.db'),
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'deny_all' };
      },
    });
    await rerun.run([write('a', 'a.txt'), write('b', 'b.txt')]);
    const waiting = await executorOf().waiting();
    expect(waiting.map(({ batchId, conversation }) => [batchId, conversation])).toEqual([
      [one, 'c1'],
      [two, 'c2'],
    ]);
    expect(waiting[0]?.requests).toEqual(asked);
    expect(waiting[1]?.requests).toMatchObject([
      {
        callId: 'r',
        toolName: 'bash',
        args: { command: 'rm -r old' },
        risk: expect.stringMatching(/^(?:medium|high)$/),
        summary: expect.stringContaining('rm -r old'),
      },
    ]);
    const since = waiting[0]?.since ?? '';
    expect(since).toBe(new Date(since).toISOString());
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before);
    expect(await first.waiting({ conversation: 'c2' })).toEqual(waiting.slice(1));
    expect(await first.waiting({ conversation: 'none' })).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.txt'))).toEqual([]);
  });

  it('names the files that have changed since the calls were shown', async () => {
    writeFileSync(join(folder, 'a.txt'), 'old\n');
    const first = executorOf();
    await defer(first, [write('a', 'a.txt'), write('b', 'b.txt')], 'c1');
    const { ticket } = await first.ask(write('t', 'a.txt'), { conversation: 'c2' });
    const waiting = () => executorOf().waiting();
    const changed = async () =>
      (await waiting()).map(({ requests }) => requests.map((request) => request.changed ?? []));
    expect(await changed()).toEqual([[[], []], [[]]]);
    writeFileSync(join(folder, 'a.txt'), 'changed\n');
    const path = realpathSync(join(folder, 'a.txt'));
    expect(await changed()).toEqual([[[path], []], [[path]]]);
    // A ticket that was asked about again still names them, although its question shows the new content.
    await first.decide(ticket, { kind: 'approve_all' });
    await first.run([write('t', 'a.txt')], { conversation: 'c2', ticket });
    expect(await changed()).toEqual([[[path], []], [[path]]]);
    expect((await waiting())[1]?.requests[0]?.reason).toContain('changed since it was shown');
  });

  it('is seen from another process', async () => {
    const id = await defer(executorOf(), [write('a', 'a.txt')], 'c1');
    const program = `
      const executor = createExecutor({ root: ${JSON.stringify(folder)}, journal: ${JSON.stringify(journal())} });
      console.log(JSON.stringify(await executor.waiting()));
      await executor.close();`;
    const { stdout, stderr } = await runProgram(program);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject([{ batchId: id, requests: [{ callId: 'a', risk: 'medium' }] }]);
  });

  it('leaves out what has its result, what needs no approval, and what was decided', async () => {
    const executor = executorOf({ approver: () => ({ kind: 'approve_all' }) });
    const calls = [
      { id: 'gone', name: 'no_such_tool', args: {} },
      { id: 'look', name: 'list_directory', args: { path: '.' } },
      write('a', 'a.txt'),
    ];
    const id = await defer(executor, calls, 'c1');
    expect((await executor.waiting())[0]?.requests.map(({ callId }) => callId)).toEqual(['a']);
    await (await executor.approve(id)).results;
    expect(await executor.waiting()).toEqual([]);
    const other = await defer(executor, [write('b', 'b.txt')], 'c1');
    await executor.decide(other, 'discard');
    expect(await executor.waiting()).toEqual([]);
  });

  it('describes a call from the record where its tool is gone, or the policy refuses it now', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object' },
      requiresApproval: true,
      effects: () => [{ kind: 'fetch', url: 'https://bank.example' }],
      execute: () => 'paid',
    });
    await defer(executorOf({ tools: [pay] }), [{ id: 'p', name: 'pay', args: { to: 'ada' } }], 'c1');
    const recorded = {
      callId: 'p',
      toolName: 'pay',
      args: { to: 'ada' },
      risk: 'medium',
      effects: [{ kind: 'fetch', url: 'https://bank.example' }],
      summary: 'pay: fetch https://bank.example',
    };
    for (const [options, why] of [
      [{ tools: [] }, 'Unknown tool "pay"'],
      [{ tools: [pay], policy: { denylist: ['pay'] } }, 'denylist'],
    ] as const) {
      const [waiting] = await executorOf(options).waiting();
      expect(waiting?.requests).toMatchObject([recorded]);
      expect(waiting?.requests[0]?.reason).toMatch(/requires approval.*It would be refused now: /);
      expect(waiting?.requests[0]?.reason).toContain(why);
    }
    // Shown even in a mode that runs nothing.
    const [waiting] = await executorOf({ tools: [pay], mode: 'disabled' }).waiting();
    expect(waiting?.requests).toMatchObject([
      { ...recorded, reason: expect.not.stringContaining('refused') },
    ]);
  });

  it('calls no observer, writes nothing, and refuses unknown options', async () => {
    const decisions: unknown[] = [];
    const executor = executorOf({ onDecision: (question) => void decisions.push(question) });
    const id = await defer(executor, [write('a', 'a.txt')], 'c1');
    decisions.length = 0;
    await executor.waiting();
    expect(decisions).toEqual([]);
    expect((await executor.waiting())[0]?.batchId).toBe(id);
    await expect(executor.waiting({ conversation: '' })).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(executor.waiting({ batch: id } as object)).rejects.toMatchObject({ code: 'config_invalid' });
    expect(await executorOf({ journal: false }).waiting()).toEqual([]);
    await executor.close();
    await expect(executor.waiting()).rejects.toThrow(/the executor is closed/);
  });
});
