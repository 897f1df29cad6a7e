import { afterEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import type { Tool } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { callsOf, NEVER, probeTool } from '../fixtures/probe-tool.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

function executorOf(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ policy: null, tools, ...options });
  opened.push(executor);
  return executor;
}

const MARKER = '\n\n... [output truncated]';

async function outputOf(text: string, maxBytes: number): Promise<ToolResult | undefined> {
  const [result] = await executorOf([probeTool('says', () => text)], { output: { maxBytes } }).run(
    callsOf('says'),
  );
  return result;
}

describe('the limit of an output', () => {
  it('holds the marker as well, at every size', async () => {
    expect(Buffer.byteLength(MARKER)).toBe(24);
    for (const maxBytes of [0, 1, 23, 24]) {
      const result = await outputOf('x'.repeat(50), maxBytes);
      expect(result).toMatchObject({ success: true, output: MARKER.slice(0, maxBytes), truncated: true });
    }
    expect(await outputOf('x'.repeat(50), 25)).toMatchObject({ output: `x${MARKER}`, truncated: true });
    expect(await outputOf('x'.repeat(50), 50)).toMatchObject({ output: 'x'.repeat(50), truncated: false });
    expect(await outputOf('x'.repeat(51), 50)).toMatchObject({
      output: `${'x'.repeat(26)}${MARKER}`,
      truncated: true,
    });
    expect(await outputOf('', 0)).toMatchObject({ output: '', truncated: false });
  });

  it('counts bytes and cuts between characters', async () => {
    expect(await outputOf('é'.repeat(25), 50)).toMatchObject({ output: 'é'.repeat(25), truncated: false });
    expect(await outputOf('é'.repeat(26), 51)).toMatchObject({
      output: `${'é'.repeat(13)}${MARKER}`,
      truncated: true,
    });
    expect(await outputOf('😀'.repeat(20), 31)).toMatchObject({ output: `😀${MARKER}`, truncated: true });
  });

  it('is the default of 102400 bytes', async () => {
    const [result] = await executorOf([probeTool('says', () => 'x'.repeat(102_401))]).run(callsOf('says'));
    expect(Buffer.byteLength(result?.output ?? '')).toBe(102_400);
    expect(result?.truncated).toBe(true);
  });

  it('does not cut what its tool limits itself', async () => {
    const own = probeTool('own', () => ({ text: 'x'.repeat(500), truncatable: false }));
    const [result] = await executorOf([own], { output: { maxBytes: 10 } }).run(callsOf('own'), {
      availableCapacityBytes: 5,
    });
    expect(result).toMatchObject({ output: 'x'.repeat(500), truncated: false });
  });

  it('holds for error messages, and a failure keeps its output', async () => {
    const fails = probeTool('fails', () => ({ text: 'o'.repeat(300), error: { message: 'm'.repeat(300) } }));
    const throws = probeTool('throws', () => {
      throw new ToolError('execution_failed', 'm'.repeat(300));
    });
    const results = await executorOf([fails, throws], { output: { maxBytes: 100 } }).run(
      callsOf('fails', 'throws', 'l'.repeat(400)),
    );
    for (const result of results) {
      expect(result.truncated).toBe(true);
      expect(Buffer.byteLength(result.error?.message ?? '')).toBe(100);
    }
    expect(Buffer.byteLength(results[0]?.output ?? '')).toBe(100);
  });
});

describe('what the context can still take', () => {
  const says = probeTool('says', ({ text }) => String(text ?? 'y'.repeat(60)));
  const fails = probeTool('fails', () => ({ text: 'o'.repeat(60), error: { message: 'm'.repeat(60) } }));

  function bytesOf(result: ToolResult | undefined): number {
    return Buffer.byteLength((result?.error?.message ?? '') + (result?.output ?? ''));
  }

  it('is the limit where it is less, and shrinks over a batch', async () => {
    const executor = executorOf([says], { output: { maxBytes: 50 } });
    const results = await executor.run(callsOf('says', 'says', 'says', 'says'), {
      availableCapacityBytes: 120,
    });
    expect(results.map(bytesOf)).toEqual([50, 50, 20, 0]);
    expect(results.every(({ truncated }) => truncated)).toBe(true);
  });

  it('counts failures, pre-resolved and cancelled calls', async () => {
    const executor = executorOf([says, fails, probeTool('hangs', () => NEVER, { timeoutMs: 20 })]);
    const calls = callsOf('lost', 'fails', 'hangs', 'says');
    for (const capacity of [0, 1, 24, 50, 100, 150, 200, 250, 1_000]) {
      const results = await executor.run(calls, { availableCapacityBytes: capacity });
      const sum = results.reduce((total, result) => total + bytesOf(result), 0);
      expect(sum).toBeLessThanOrEqual(capacity);
      if (capacity < 200) expect(sum).toBe(capacity);
      expect(results.map(({ error }) => error?.code)).toEqual([
        'unknown_tool',
        'execution_failed',
        'timeout',
        undefined,
      ]);
    }
  });

  it('is never passed by calls that run beside each other', async () => {
    const executor = executorOf([says, fails], { limits: { maxToolCallsPerBatch: 50 } });
    for (const concurrency of [1, 3, 20]) {
      const results = await executor.run(callsOf(...Array<string>(20).fill('says'), 'fails', 'lost'), {
        availableCapacityBytes: 333,
        concurrency,
      });
      expect(results.reduce((total, result) => total + bytesOf(result), 0)).toBe(333);
    }
  });

  it('is passed to the tool', async () => {
    const asks = probeTool(
      'asks',
      (_, { limits }) => `${limits.maxOutputBytes} ${limits.availableCapacityBytes}`,
    );
    const executor = executorOf([asks], { output: { maxBytes: 90 } });
    const results = await executor.run(callsOf('asks', 'asks'), { availableCapacityBytes: 80 });
    expect(results.map(({ output }) => output)).toEqual(['90 80', '90 75']);
  });
});

describe('what is shown', () => {
  const RAW = 'a\u001b[31mb\u001b[0m\u0007c\u202ed';

  it('is clean everywhere: output, message, metadata, details, refusals', async () => {
    const says = probeTool('says', () => ({ text: RAW, metadata: { deep: { list: [RAW] } } }));
    const fails = probeTool('fails', () => {
      throw new ToolError('patch_failed', RAW, { details: { line: RAW } });
    });
    const panics = probeTool('panics', () => {
      throw new Error(RAW);
    });
    const asks = probeTool('asks', () => 'x', { requiresApproval: true });
    const executor = executorOf([says, fails, panics, asks], {
      approver: () => ({ kind: 'deny_all', reason: RAW }),
    });
    const run = executor.start([
      ...callsOf('says', 'fails', 'panics', 'asks'),
      { id: 'c9', name: `lost${RAW}`, args: {} },
    ]);
    const results = await run.results;
    for (const { output, error, metadata } of results) {
      expect(JSON.stringify({ output, error, metadata })).not.toMatch(/\\u001b|\\u0007|\u202e/);
    }
    expect(results[0]).toMatchObject({ output: 'abcd', metadata: { deep: { list: ['abcd'] } } });
    expect(results[3]?.error?.code).toBe('user_denied');
    const shown: unknown[] = [];
    for await (const event of run.events) shown.push(event);
    expect(JSON.stringify(shown).replaceAll(JSON.stringify(`lost${RAW}`), '')).not.toMatch(
      /\\u001b|\\u0007|\u202e/,
    );
  });

  it('stays what it was when the tool changes its objects later', async () => {
    const metadata = { list: ['a'] };
    const structured = { list: ['a'] };
    const keeps = probeTool('keeps', () => ({ text: 'x', metadata, structured }));
    const [result] = await executorOf([keeps]).run(callsOf('keeps'));
    metadata.list.push('b');
    structured.list.push('b');
    expect(result).toMatchObject({ metadata: { list: ['a'] }, structured: { list: ['a'] } });
  });

  it('is recorded even if metadata says `replayed`', async () => {
    const claims = probeTool('claims', () => ({ text: 'mine', metadata: { replayed: true } }), {
      effects: () => [{ kind: 'unknown' }],
    });
    const executor = executorOf([claims], { approver: null });
    const first = await executor.run(callsOf('claims'), { conversation: 'one' });
    const again = await executor.run(callsOf('claims'), { conversation: 'one' });
    expect(first[0]?.output).toBe('mine');
    expect(again[0]).toMatchObject({ success: true, output: 'mine' });
  });
});
